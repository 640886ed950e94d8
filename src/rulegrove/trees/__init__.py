"""Small boosted CART trees: bins, growth, boosting, the grown forest."""
