internal import CacheBase
internal import CacheCore
internal import FetchVocabulary

/// The files named by the network settings, examined before any request.
struct NetworkFiles: Sendable {
  /// A digest of the client certificate; `nil` if there is none. The same certificate in another file, or together with
  /// other content, is the same client.
  private(set) var clientIdentity: String?
  /// Why one of the files cannot be used; `nil` if all can.
  private(set) var problem: CacheError?

  private let configuration: Configuration?

  /// Reads the files of `network`.
  ///
  /// - Parameter configuration: the configuration that names the files; `nil` if flags of the command line do.
  init(_ network: Configuration.Network, of configuration: Configuration? = nil) {
    self.configuration = configuration
    if let path = network.clientCertificate, let text = text(of: path, holding: .certificate, .clientCertificate) {
      var digest = SHA256()
      digest.update(Self.firstCertificate(in: text))
      clientIdentity = digest.hexText
      if network.clientKey == nil { require(.privateKey, in: text, path, .clientCertificate) }
    }
    if let path = network.clientKey { _ = text(of: path, holding: .privateKey, .clientKey) }
    if let path = network.authorityFile { _ = text(of: path, holding: .certificate, .authorityFile) }
  }

  /// The purpose of a file, by its key in the section `network`.
  private enum Purpose: String {
    case authorityFile, clientCertificate, clientKey

    func name(isFlag: Bool) -> String {
      switch self {
      case _ where !isFlag: "network.\(rawValue)"
      case .authorityFile: "--cacert"
      case .clientCertificate: "--cert"
      case .clientKey: "--key"
      }
    }
  }

  /// The required content of a file, by the lines before and after it (RFC 7468).
  private enum Content: String {
    case certificate = "CERTIFICATE-----"
    case privateKey = "PRIVATE KEY-----"

    var noun: String { self == .certificate ? "certificate" : "private key" }
  }

  /// The text of the file at `path`; `nil` if it is unusable, or a pipe or the like, which can be read only once.
  private mutating func text(of path: String, holding content: Content, _ purpose: Purpose) -> String? {
    var status = stat()
    if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
      if purpose == .clientCertificate { note("\(path) is not a regular file", content, purpose) }
      return nil
    }
    var bytes: [UInt8]?
    do throws(ConfigurationError) { bytes = try ConfigurationFiles.contents(of: path) } catch {
      note(error.message, content, purpose)
      return nil
    }
    guard let bytes else {
      note("there is no file \(path)", content, purpose)
      return nil
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return require(content, in: text, path, purpose) ? text : nil
  }

  @discardableResult
  private mutating func require(_ content: Content, in text: String, _ path: String, _ purpose: Purpose) -> Bool {
    if text.holds(content.rawValue) { return true }
    note("\(path) has no \(content.noun) (PEM)", content, purpose)
    return false
  }

  private mutating func note(_ message: String, _ content: Content, _ purpose: Purpose) {
    let isFlag = configuration == nil
    let isMissingKey = purpose == .clientCertificate && content == .privateKey
    let place = isMissingKey ? " with \(Purpose.clientKey.name(isFlag: isFlag))" : ""
    let name = purpose.name(isFlag: isFlag)
    let source = configuration?.source(of: name).map { "\($0): " } ?? ""
    problem =
      problem
      ?? CacheError(
        isFlag ? .invalidRequest : .originUnavailable, "\(source)\(name): \(message)",
        hint: "name a file that you can read and that has the \(content.noun) (PEM)\(place)")
  }

  /// The bytes of the first certificate in `text`, the one a client shows.
  private static func firstCertificate(in text: String) -> [UInt8] {
    let lines = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let start = lines.drop { !Substring($0).hasSuffix(Content.certificate.rawValue) }.dropFirst()
    return Array(start.prefix { !Substring($0).hasPrefix("-----") }.joined())
  }
}

extension TransferDemands {
  /// Checks that the network flags of the command line can be used.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` that names the flag.
  func check() throws(CacheError) {
    if let proxy = network.proxy, !ProxyAddress.hasKnownScheme(proxy) {
      throw CacheError(.invalidRequest, "--proxy: \(ProxyAddress.mistake)", hint: ProxyAddress.hint)
    }
    if let problem = NetworkFiles(network).problem { throw problem }
  }
}
