// A fetch is decided by the rules, whose names its callers use.
@_exported public import HTTPCaching
