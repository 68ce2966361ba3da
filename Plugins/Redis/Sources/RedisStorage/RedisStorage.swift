// The engine, where the package is taken with its trait `Redis`; otherwise nothing, so that no build needs hiredis.
#if Redis
  @_exported public import HiredisStorage
#endif
