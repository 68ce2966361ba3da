/// Requests and responses are part of what this target offers: its users need not import them by themselves.
@_exported public import HTTPMessages
