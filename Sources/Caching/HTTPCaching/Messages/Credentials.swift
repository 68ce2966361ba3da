/// What identifies the client in a request.
extension HTTPRequest {
  /// The fields whose values are always secrets.
  private static let credentialFields = ["authorization", "cookie", "proxy-authorization"]

  /// Whether the value of the field `name` is a secret.
  package func isSecret(_ name: String) -> Bool {
    Self.credentialFields.contains { HTTPFields.isSame($0, name) }
      || secretFields.contains { HTTPFields.isSame($0, name) }
  }

  /// Whether the request identifies the client.
  public var hasCredentials: Bool {
    shownIdentity != nil || !secretParameters.lines.isEmpty || fields.lines.contains { isSecret($0.name) }
  }

  /// The names of the secrets in the request, for people; none of their values.
  package var credentialNames: [String] {
    var names: [String] = []
    for field in fields.lines
    where isSecret(field.name) && !names.contains(where: { HTTPFields.isSame($0, field.name) }) {
      names.append(field.name)
    }
    names += secretParameters.lines.map { "the parameter \($0.name)" }
    return shownIdentity == nil ? names : names + ["the client certificate"]
  }

  /// Whether the request has at most one field Host, and that names a server.
  package var hasValidHost: Bool {
    let hosts = fields.values(of: "host")
    return hosts.isEmpty || hosts.count == 1 && HTTPSyntax.isHost(hosts[0])
  }
}
