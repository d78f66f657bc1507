"""Chapter rts: experiments on Rao-Blackwellized tempered sampling, a file for each subject."""
