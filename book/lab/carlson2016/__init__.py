"""Code for the notebook on Carlson et al. (2016), its lessons and its stored runs."""
