"""Running a suite: asking every endpoint every case, and recording what comes."""
