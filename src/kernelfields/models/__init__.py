"""What models are made of: spaces and penalties of a fit, scores of what was learnt."""
