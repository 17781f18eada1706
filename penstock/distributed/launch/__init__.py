"""Starting all tasks of a job: as processes here, or as files that a cluster's manager reads."""
