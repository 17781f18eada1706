"""State space models: linear, with normal noise, filtered by Kalman's equations."""
