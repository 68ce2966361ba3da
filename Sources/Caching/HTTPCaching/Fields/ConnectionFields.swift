/// Header fields that belong to a connection rather than to the message (RFC 9110, section 7.6.1).
enum ConnectionFields {
  private static let always: Set = [
    "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The names of such fields in `fields`, in lower case: the fixed ones, and the ones that `Connection` names.
  static func names(of fields: HTTPFields) -> Set<String> {
    always.union(FieldList.names(fields.values(of: "connection").joined(separator: ",")))
  }
}
