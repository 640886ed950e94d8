# Reference paths of R's glmnet for survival times, read by tests/solvers/test_rate_losses.py; see README.md beside this
# file. Run from this folder: Rscript cox.R
suppressPackageStartupMessages({library(glmnet); library(survival); library(jsonlite)})

source("rule_data.R")

# Targets are signed times: of an event above zero, of a row that was lost from sight below zero.
times <- function(data, seed, censored) {
  draw <- stream(seed)
  n <- length(data$y)
  event <- -log(draw(n)) * exp(-data$rules[, 1] + 0.7 * data$rules[, 3] - 1.2 * data$linear[, 1])
  lost <- -log(draw(n)) * censored
  round(ifelse(event <= lost, event, -lost), 6)
}

# The partial likelihood of Breslow at given scores, from survival's coxph, for each point.
likelihoods <- function(x, y, weights, coefs) {
  apply(coefs, 1, function(coef) {
    score <- as.vector(x %*% coef)
    coxph(Surv(abs(y), y > 0) ~ offset(score), weights = weights, ties = "breslow")$loglik[1]
  })
}

case <- function(name, data, y, alpha, weights = rep(1, length(y)), ratio = 5e-2) {
  n_lambda <- 10
  x <- cbind(data$rules, data$linear)
  fit <- glmnet(x, Surv(abs(y), y > 0), family = "cox", weights = weights, alpha = alpha, nlambda = 3,
                standardize = FALSE)
  # One point above the largest useful penalty, the others below it.
  lambda <- c(1.1, ratio^(seq(0.5, n_lambda - 1) / (n_lambda - 1))) * fit$lambda[1]
  fit <- glmnet(x, Surv(abs(y), y > 0), family = "cox", weights = weights, alpha = alpha, lambda = lambda,
                standardize = FALSE, thresh = 1e-16, maxit = 1e7)
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  coefs <- t(as.matrix(fit$beta))
  list(name = name, alpha = alpha, rules = data$rules, linear = data$linear, y = y, weights = weights,
       lambda = fit$lambda, coefs = coefs, likelihoods = likelihoods(x, y, weights, coefs))
}

narrow <- rule_data(3, 120, 12, 2)
many <- rule_data(29, 90, 40, 1)
weights <- 0.5 + stream(5)(120)
plain <- times(narrow, 21, 2)
tied <- sign(plain) * ceiling(4 * abs(plain)) / 4

cases <- list(
  case("lasso", narrow, plain, 1),
  case("elastic net", narrow, plain, 0.4),
  case("weighted lasso", narrow, plain, 1, weights),
  case("ties", narrow, tied, 1),
  case("weighted ties, elastic net", narrow, tied, 0.7, weights),
  case("many rules", many, times(many, 23, 3), 1, ratio = 0.1)
)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, cases = cases),
             digits = I(17), auto_unbox = TRUE), "cox.json")
