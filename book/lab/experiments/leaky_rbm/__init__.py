"""Chapter leaky_rbm: experiments on leaky RBMs (Li et al. 2016), a file for each subject."""
