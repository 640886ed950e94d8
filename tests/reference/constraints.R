# Reference paths of R's glmnet with signs and unpenalised terms for tests/solvers/test_constraining.py; see README.md
# beside this file. Run from this folder: Rscript constraints.R
suppressPackageStartupMessages({library(glmnet); library(jsonlite)})

source("rule_data.R")

# lambda is rescaled so that glmnet, which makes the penalty factors sum to the number of terms, penalises a term by it.
case <- function(name, data, family, alpha, signs, unpenalised) {
  x <- cbind(data$rules, data$linear)
  factors <- ifelse(unpenalised, 0, 1)
  lambda <- 0.06 * 0.6^(0:9) / alpha
  fit <- glmnet(x, data$y, family = family, alpha = alpha, lambda = lambda * sum(factors) / length(factors),
                standardize = FALSE, thresh = 1e-18, maxit = 1e7, penalty.factor = factors,
                lower.limits = ifelse(signs > 0, 0, -Inf), upper.limits = ifelse(signs < 0, 0, Inf))
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  list(name = name, family = family, alpha = alpha, signs = signs, unpenalised = unpenalised, lambda = lambda,
       intercepts = as.vector(fit$a0), coefs = t(as.matrix(fit$beta)))
}

data <- rule_data(3, 120, 12, 2)
signs <- c(1, -1, 0, 1, -1, 1, 0, -1, 1, -1, 1, 0, -1, 1)
spared <- seq_len(14) %in% c(3, 6)
none <- rep(FALSE, 14)

cases <- list(
  case("signs", data, "gaussian", 1, signs, none),
  case("signs, elastic net", data, "gaussian", 0.5, signs, none),
  case("unpenalised", data, "gaussian", 1, 0 * signs, spared),
  case("both", data, "gaussian", 1, signs, spared),
  case("both, elastic net", data, "gaussian", 0.5, signs, spared),
  case("logistic, signs", data, "binomial", 1, signs, none),
  case("logistic, unpenalised", data, "binomial", 0.5, 0 * signs, spared),
  case("logistic, both", data, "binomial", 1, signs, spared)
)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, data = data, cases = cases),
             digits = I(17), auto_unbox = TRUE), "constraints.json")
