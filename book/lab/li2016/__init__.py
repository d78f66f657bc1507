"""Li, Ravanbakhsh and Póczos (2016), annealing the leakiness of leaky-ReLU RBMs.

The published move by quadrature, the tables from stored runs, several trainings, and the live parts
of ``check/li2016``.
"""
