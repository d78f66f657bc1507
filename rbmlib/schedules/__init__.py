"""Schedules: WHERE a path is cut; increasing arrays of beta from 0 to 1."""

from .fixed import linear as linear
from .fixed import sm08 as sm08
from .pilots import friction as friction
from .pilots import varopt as varopt
