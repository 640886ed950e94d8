# Rules, linear terms and classes that constraints.R and logistic.R fit.

# A generator in exact integer arithmetic, so that the data are the same on every machine and version of R.
stream <- function(seed) {
  value <- seed
  function(n) vapply(seq_len(n), function(i) { value <<- (16807 * value) %% 2147483647; value / 2147483647 }, 0)
}

rule_data <- function(seed, n, n_rules, n_linear) {
  draw <- stream(seed)
  z <- matrix(draw(n * 4), n, 4)
  rules <- sapply(seq_len(n_rules), function(k) {
    a <- 1 + floor(4 * draw(1)); b <- 1 + floor(4 * draw(1)); s <- 0.2 + 0.6 * draw(2)
    as.numeric(z[, a] <= s[1] & z[, b] > s[2] * s[1])
  })
  y <- ifelse(z[, 1] + z[, 2] * z[, 3] + 0.6 * draw(n) > 1.1, 1, -1)
  list(rules = rules, linear = z[, seq_len(n_linear), drop = FALSE], y = y)
}
