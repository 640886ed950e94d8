# Reference paths of R's glmnet with the multinomial loss for tests/solvers/test_multinomial.py; see README.md beside this
# file. Run from this folder: Rscript multinomial.R
suppressPackageStartupMessages({library(glmnet); library(jsonlite)})

# A generator in exact integer arithmetic, so that the data are the same on every machine and version of R.
stream <- function(seed) {
  value <- seed
  function(n) vapply(seq_len(n), function(i) { value <<- (16807 * value) %% 2147483647; value / 2147483647 }, 0)
}

rule_data <- function(seed, n, n_rules, n_linear, n_classes) {
  draw <- stream(seed)
  z <- matrix(draw(n * 4), n, 4)
  rules <- sapply(seq_len(n_rules), function(k) {
    a <- 1 + floor(4 * draw(1)); b <- 1 + floor(4 * draw(1)); s <- 0.2 + 0.6 * draw(2)
    as.numeric(z[, a] <= s[1] & z[, b] > s[2] * s[1])
  })
  # Classes are steps of a score, the highest and the lowest of them rarer than the others.
  score <- (z[, 1] + z[, 2] * z[, 3] + 0.5 * draw(n)) / 2
  list(rules = rules, linear = z[, seq_len(n_linear), drop = FALSE],
       codes = pmin(pmax(floor(n_classes * (1.6 * score - 0.3)), 0), n_classes - 1))
}

case <- function(name, data, alpha, weights = rep(1, length(data$codes)), ratio = 5e-2) {
  n_lambda <- 8
  x <- cbind(data$rules, data$linear)
  share <- weights / sum(weights)
  target <- outer(data$codes, sort(unique(data$codes)), "==") + 0
  top <- max(abs(t(share * sweep(x, 2, colSums(share * x))) %*% sweep(target, 2, colSums(share * target)))) / alpha
  # One point above the largest useful penalty, the others below it.
  lambda <- c(1.1, ratio^(seq(0.5, n_lambda - 1) / (n_lambda - 1))) * top
  fit <- glmnet(x, data$codes, family = "multinomial", type.multinomial = "ungrouped", weights = weights, alpha = alpha,
                lambda = lambda, standardize = FALSE, thresh = 1e-14, maxit = 1e7)
  stopifnot(fit$jerr == 0, length(fit$lambda) == length(lambda))
  list(name = name, alpha = alpha, rules = data$rules, linear = data$linear, codes = data$codes, weights = weights,
       lambda = fit$lambda, intercepts = t(fit$a0), coefs = unname(lapply(fit$beta, function(b) t(as.matrix(b)))))
}

three <- rule_data(3, 150, 12, 2, 3)
four <- rule_data(29, 150, 10, 1, 4)
five <- rule_data(17, 200, 25, 1, 5)
weights <- 0.5 + stream(5)(150)

cases <- list(
  case("lasso, 3 classes", three, 1),
  case("elastic net, 3 classes", three, 0.4),
  case("weighted lasso, 3 classes", three, 1, weights),
  case("lasso, 4 classes", four, 1),
  case("weighted elastic net, 4 classes", four, 0.6, weights),
  case("lasso, 5 classes", five, 1, ratio = 0.1)
)
write(toJSON(list(glmnet = as.character(packageVersion("glmnet")), R = R.version.string, cases = cases),
             digits = I(17), auto_unbox = TRUE), "multinomial.json")
