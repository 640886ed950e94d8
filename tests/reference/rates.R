# Reference paths of R's glmnet for counts and for amounts of a gamma law, read by tests/solvers/test_rate_losses.py; see
# README.md beside this file. Run from this folder: Rscript rates.R
suppressPackageStartupMessages({library(glmnet); library(jsonlite)})

source("rule_data.R")
glmnet.control(epsnr = 1e-14, mxitnr = 1000)  # the Newton steps of families that glmnet does not know by name

case <- function(name, data, y, loss, alpha, weights = rep(1, length(y)), ratio = 2e-2) {
  n_lambda <- 10
  x <- cbind(data$rules, data$linear)
  share <- weights / sum(weights)
  mean_y <- sum(share * y)
  pull <- if (loss == "poisson") y - mean_y else y / mean_y - 1
  top <- max(abs(colSums(share * x * pull))) / alpha
  # One point above the largest useful penalty, the others below it.
  lambda <- c(1.1, ratio^(seq(0.5, n_lambda - 1) / (n_lambda - 1))) * top
  family <- if (loss == "poisson") "poisson" else Gamma(link = "log")
  fit <- glmnet(x, y, family = family, weights = weights, alpha = alpha, lambda = lambda, standardize = FALSE,
                thresh = 1e-16, maxit = 1e7)
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  list(name = name, loss = loss, alpha = alpha, rules = data$rules, linear = data$linear, y = y, weights = weights,
       lambda = fit$lambda, intercepts = as.vector(fit$a0), coefs = t(as.matrix(fit$beta)))
}

rates <- function(data) exp(0.6 + data$rules[, 1] - 0.8 * data$rules[, 3] + 1.1 * data$linear[, 1])
amounts <- function(data, seed) round(-log(stream(seed)(length(data$y))) * rates(data), 6)

narrow <- rule_data(3, 120, 12, 2)
many <- rule_data(17, 90, 40, 1)
weights <- 0.5 + stream(5)(120)
counts <- floor(amounts(narrow, 9))
mixed <- 0.001 + amounts(narrow, 11)

cases <- list(
  case("poisson, lasso", narrow, counts, "poisson", 1),
  case("poisson, elastic net", narrow, counts, "poisson", 0.4),
  case("poisson, weighted lasso", narrow, counts, "poisson", 1, weights),
  case("poisson, weighted elastic net", narrow, counts, "poisson", 0.7, weights),
  case("poisson, many rules", many, floor(amounts(many, 13)), "poisson", 1, ratio = 0.1),
  case("gamma, lasso", narrow, mixed, "gamma", 1),
  case("gamma, weighted elastic net", narrow, mixed, "gamma", 0.7, weights)
)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, cases = cases),
             digits = I(17), auto_unbox = TRUE), "rates.json")
