internal import StorageSPI

/// Asks Sentinels for the server that is the master at the moment.
///
/// A Sentinel gets the same user and password as the servers, and may want none.
struct RedisSentinels {
  private let options: RedisOptions
  private let service: String

  /// The Sentinels of `options`; `nil` if these name the servers themselves.
  init?(_ options: RedisOptions) {
    guard let service = options.location.service else { return nil }
    (self.options, self.service) = (options, service)
  }

  /// The master according to the Sentinel at `address`, or why it names none: then another Sentinel may.
  ///
  /// - Throws: `RedisOpeningError`: the Sentinel does not answer.
  func master(
    by address: RedisAddress, _ patience: RedisPatience?
  ) throws(RedisOpeningError) -> Result<RedisAddress, CacheError> {
    let credentials = try options.credentials
    // Leaves time for the other Sentinels, and then for the master.
    let limit = min(options.connectTimeout, options.timeout / (4 * options.location.addresses.count))
    let answer: RedisValue
    do throws(RedisDisconnection) {
      let connection = try RedisConnection(
        address, timeout: limit, silence: limit, encryption: options.encryption, patience: patience)
      // A Sentinel without a password objects to a login, and answers all the same.
      let login = credentials.login.map { [$0] } ?? []
      let question = RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)
      answer = try connection.exchange(login + [question])[login.count].value
    } catch {
      throw error.openingError(at: address, hint: options.encryptionHint)
    }
    if let error = answer.error {
      if error.isPassing { throw .trouble(.busy("\(address): \(error)")) }
      let url = options.location.url(of: address)
      if error.isOfUnknownCommand {
        return .failure(
          .badURL(
            "\(address) is no Sentinel",
            hint: "name the port of a Sentinel, which usually is 26379, or write \(url) for this server alone"))
      }
      return .failure(CacheError(error, store: url))
    }
    guard let words = answer.elements, words.count == 2, let host = words[0].text, !host.isEmpty,
      let port = words[1].number, (1...65_535).contains(port)
    else {
      return .failure(
        .badURL(
          "the Sentinel at \(address) knows no master called '\(service)'",
          hint: "name one as its configuration does"))
    }
    return .success(RedisAddress(host: host, port: Int32(port)))
  }
}
