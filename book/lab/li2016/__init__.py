"""Li, Ravanbakhsh and Póczos (2016), annealing the leakiness of leaky-ReLU RBMs."""
