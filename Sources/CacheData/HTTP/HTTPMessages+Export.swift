/// Requests and responses are part of this target's interface: its users need not import them separately.
@_exported public import HTTPMessages
