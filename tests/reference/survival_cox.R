# Reference values of R's survival for tests/survival; see survival_README.md beside this file.
# Run from this folder: Rscript survival_cox.R
suppressPackageStartupMessages({library(survival); library(jsonlite)})

# A generator in exact integer arithmetic, so that the data are the same on every machine and version of R.
stream <- function(seed) {
  value <- seed
  function(n) vapply(seq_len(n), function(i) { value <<- (16807 * value) %% 2147483647; value / 2147483647 }, 0)
}

# Times are multiples of `unit`, so the smaller it is, the fewer ties there are.
made_table <- function(seed, n, unit, late = FALSE, weighted = FALSE) {
  draw <- stream(seed)
  x <- cbind(draw(n) < 0.4, ceiling(256 * draw(n)) / 256, ceiling(768 * draw(n)^2) / 256) + 0
  hazard <- exp(0.8 * x[, 1] - 1.2 * x[, 2] + 0.3 * x[, 3])
  lived <- -log(draw(n)) / hazard; watched <- 2 * draw(n)
  entered <- if (late) 0.5 * draw(n) * (draw(n) < 0.7) else numeric(n)
  steps <- function(t) ceiling(t / unit)
  entry <- steps(entered); time <- entry + steps(pmin(lived, watched))
  list(x = x, entry = if (late) entry, time = time, event = as.integer(lived <= watched),
       weights = if (weighted) ceiling(16 * (0.25 + 2 * draw(n))) / 16 else rep(1, n))
}

case <- function(name, data, ties, beta = c(0.5, -0.75, 0.25), theta = 4) {
  late <- !is.null(data$entry)
  y <- if (late) Surv(data$entry, data$time, data$event) else Surv(data$time, data$event)
  x <- data$x; w <- data$weights
  exact <- coxph.control(eps = 1e-14, iter.max = 100, toler.chol = 1e-16, timefix = FALSE)
  at <- coxph(y ~ x, weights = w, ties = ties, init = beta, robust = FALSE,
              control = coxph.control(iter.max = 0, timefix = FALSE))
  fit <- coxph(y ~ x, weights = w, ties = ties, robust = FALSE, control = exact)
  # With late entry, weights and Efron's ties its loop for ridges ends, with a warning, at a point that is not the best.
  drawn <- tryCatch(coxph(y ~ ridge(x, theta = theta, scale = FALSE), weights = w, ties = ties, control = exact)$coefficients,
                    warning = function(told) NULL)
  base <- basehaz(fit, centered = FALSE)
  score <- drop(x %*% beta)
  list(name = name, ties = ties, x = x, entry = data$entry, time = data$time, event = data$event, weights = w,
       beta = beta, log_likelihood = at$loglik[1], residuals = unname(residuals(at, type = "martingale")),
       hessian = solve(at$var), slopes = unname(colSums(residuals(at, type = "score") * w)),
       coef = unname(fit$coefficients), largest = fit$loglik[2], theta = theta, drawn = unname(drawn),
       hazard_times = base$time, hazard = base$hazard,
       concordance = unname(concordance(y ~ score, weights = w, reverse = TRUE, timewt = "n", timefix = FALSE)$concordance))
}

curve <- function(name, data, level = 0.9) {
  late <- !is.null(data$entry)
  y <- if (late) Surv(data$entry, data$time, data$event) else Surv(data$time, data$event)
  fit <- survfit(y ~ 1, weights = data$weights, robust = FALSE, conf.type = "log-log", conf.int = level, timefix = FALSE)
  list(name = name, level = level, entry = data$entry, time = data$time, event = data$event, weights = data$weights,
       at = fit$time, surv = fit$surv, lower = fit$lower, upper = fit$upper, cumhaz = fit$cumhaz)
}

kinds <- list(
  "no ties" = made_table(3, 40, 1e-6),
  "ties" = made_table(5, 60, 0.125),
  "many ties" = made_table(7, 60, 0.5),
  "weights" = made_table(11, 60, 0.125, weighted = TRUE),
  "late entry" = made_table(13, 80, 0.125, late = TRUE),
  "late entry and weights" = made_table(17, 80, 0.25, late = TRUE, weighted = TRUE)
)
both <- unlist(lapply(names(kinds), function(name) lapply(c("efron", "breslow"), function(ties)
  case(name, kinds[[name]], ties))), recursive = FALSE)
write(toJSON(list(survival = as.character(packageVersion("survival")), R = R.version.string, cases = both,
                  curves = lapply(names(kinds), function(name) curve(name, kinds[[name]]))),
             digits = I(17), auto_unbox = TRUE, null = "null", na = "null"), "survival_cox.json")
