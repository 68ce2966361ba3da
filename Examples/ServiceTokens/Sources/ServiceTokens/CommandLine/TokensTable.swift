internal import ServiceTokensDomain
internal import EngineAPI

/// Tokens as lines of text: the name, the value or its mask, and the end, with a tab between them.
struct TokensTable {
  let tokens: [ServiceToken]
  let showsValues: Bool

  var text: String {
    tokens.map { token in
      let value = showsValues ? token.value.reveal() : TokenValue.mask
      let end = token.expiresAt.map { Timestamp(milliseconds: 0).advanced(by: $0).text } ?? "never"
      return "\(token.name)\t\(value)\t\(end)\n"
    }.joined()
  }
}
