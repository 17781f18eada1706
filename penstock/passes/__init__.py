"""From a graph to the step that runs: functions that copy, prune, fold, merge and order nodes."""
