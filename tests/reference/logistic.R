# Reference paths of R's glmnet with the logistic loss for tests/solvers/test_logistic.py; see README.md beside this file.
# Run from this folder: Rscript logistic.R
suppressPackageStartupMessages({library(glmnet); library(jsonlite)})

source("rule_data.R")

case <- function(name, data, alpha, weights = rep(1, length(data$y)), ratio = 2e-2) {
  n_lambda <- 10
  x <- cbind(data$rules, data$linear)
  share <- weights / sum(weights)
  target <- (data$y + 1) / 2
  top <- max(abs(colSums(share * sweep(x, 2, colSums(share * x)) * (target - sum(share * target))))) / alpha
  # One point above the largest useful penalty, the others below it.
  lambda <- c(1.1, ratio^(seq(0.5, n_lambda - 1) / (n_lambda - 1))) * top
  fit <- glmnet(x, data$y, family = "binomial", weights = weights, alpha = alpha, lambda = lambda,
                standardize = FALSE, thresh = 1e-16, maxit = 1e7)
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  list(name = name, alpha = alpha, rules = data$rules, linear = data$linear, y = data$y, weights = weights,
       lambda = fit$lambda, intercepts = as.vector(fit$a0), coefs = t(as.matrix(fit$beta)))
}

narrow <- rule_data(3, 120, 12, 2)
many <- rule_data(17, 90, 40, 1)
weights <- 0.5 + stream(5)(120)

cases <- list(
  case("lasso", narrow, 1),
  case("elastic net", narrow, 0.4),
  case("weighted lasso", narrow, 1, weights),
  case("weighted elastic net", narrow, 0.7, weights),
  case("many rules", many, 1, ratio = 0.1)
)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, cases = cases),
             digits = I(17), auto_unbox = TRUE), "logistic.json")
