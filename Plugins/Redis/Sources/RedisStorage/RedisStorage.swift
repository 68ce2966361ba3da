// The engine, where the package is taken with its trait `Redis`; otherwise nothing, so that no other build needs hiredis and OpenSSL.
#if Redis
  @_exported public import HiredisStorage
#endif
