"""Chapter varopt: experiments on annealing schedules (Kiwaki 2015), a file for each subject."""
