# Reference paths of R's glmnet for tests/solvers/test_glmnet.py; see README.md beside this file.
# Run from this folder: Rscript glmnet.R
suppressPackageStartupMessages({library(glmnet); library(jsonlite)})

# A generator in exact integer arithmetic, so that the data are the same on every machine and version of R.
stream <- function(seed) {
  value <- seed
  function(n) vapply(seq_len(n), function(i) { value <<- (16807 * value) %% 2147483647; value / 2147483647 }, 0)
}

numeric_data <- function(seed, n, p) {
  draw <- stream(seed)
  x <- matrix(draw(n * p), n, p)
  x[, 2] <- (x[, 1] + x[, 2]) / 2                     # some correlation
  y <- 3 * x[, 1] - 2 * x[, 3] + x[, 4] * x[, 5] + draw(n)
  list(x = x, y = y)
}

rule_data <- function(seed, n, p) {
  draw <- stream(seed)
  z <- matrix(draw(n * 4), n, 4)
  x <- sapply(seq_len(p), function(k) {
    a <- 1 + floor(4 * draw(1)); b <- 1 + floor(4 * draw(1)); s <- 0.2 + 0.6 * draw(2)
    as.numeric(z[, a] <= s[1] & z[, b] > s[2] * s[1])
  })
  list(x = x, y = ifelse(z[, 1] + z[, 2] * z[, 3] + 0.3 * draw(n) > 1, 1, -1))
}

case <- function(name, data, alpha, weights = rep(1, nrow(data$x)), ratio = 1e-2) {
  n_lambda <- 12
  weights <- weights / sum(weights)
  x_c <- sweep(data$x, 2, colSums(weights * data$x)); y_c <- data$y - sum(weights * data$y)
  top <- max(abs(colSums(weights * x_c * y_c))) / alpha
  # One point above the largest useful penalty, the others below it.
  lambda <- c(1.1, ratio^(seq(0.5, n_lambda - 1) / (n_lambda - 1))) * top
  fit <- glmnet(data$x, data$y, weights = weights, alpha = alpha, lambda = lambda, standardize = FALSE,
                thresh = 1e-18, maxit = 1e7)
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  list(name = name, alpha = alpha, x = data$x, y = data$y, weights = weights, lambda = fit$lambda,
       intercepts = as.vector(fit$a0), coefs = t(as.matrix(fit$beta)))
}

narrow <- numeric_data(1, 60, 8)
rules <- rule_data(7, 150, 25)
wide <- numeric_data(11, 20, 40)
weights <- 0.5 + stream(5)(60)

cases <- list(
  case("lasso", narrow, 1),
  case("elastic net", narrow, 0.4),
  case("weighted lasso", narrow, 1, weights),
  case("weighted elastic net", narrow, 0.7, weights),
  case("rules, lasso", rules, 1),
  case("rules, elastic net", rules, 0.5),
  case("more terms than rows", wide, 0.9, ratio = 0.05)
)
glmnet.control(factory = TRUE)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, cases = cases),
             digits = I(17), auto_unbox = TRUE), "glmnet.json")
