/// The header fields that are about a connection and not about the message (RFC 9110, section 7.6.1).
enum ConnectionFields {
  private static let always: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The names of such fields in `fields`, in lower case: those that always are, and those that `Connection` names.
  static func names(of fields: HTTPFields) -> Set<String> {
    always.union(FieldList.names(fields.values(of: "connection").joined(separator: ",")))
  }
}
