internal import CacheBase
internal import HTTPCaching

/// A value that a server returns as JSON for a URL with placeholders: with `ToolResource(Rate.self)`, this is the whole
/// resource.
///
///     import CachectlTool
///     import ResponseCache
///
///     struct Rate: TemplateResource, Codable {
///       static let name = "rate"
///       static let abstract = "Fetch an exchange rate"
///       static let url = "https://api.example.com/latest?base={base}&symbols={symbol}"
///       static let codec = PayloadCodec<Rate>.codable
///
///       let base: String
///       let rates: [String: Double]
///
///       var fields: [Field] { rates.map { Field($0.key, .double($0.value), $0.key) } }
///     }
///
/// The placeholders are the arguments of the command, in their order: `fetch rate BASE SYMBOL`.
public protocol TemplateResource: Sendable {
  /// The name on the command line, in keys and in the configuration: a letter, then letters and digits, all in lower case,
  /// but not `url` or `leases`.
  static var name: String { get }
  /// The description of `fetch NAME`, in one line without a final full stop.
  static var abstract: String { get }
  /// The URL, http or https, with placeholders such as {city} in its path or query. It must not contain a secret.
  static var url: String { get }
  /// Decodes the server's JSON, and makes the payload of the entry.
  static var codec: PayloadCodec<Self> { get }

  /// The facts that are shown.
  var fields: [Field] { get }

  /// The view of `snapshot`; by default its fields, and of a `PresentablePage` its items.
  static func view(of snapshot: Snapshot<Self>, backend: String) -> SnapshotView
}

extension TemplateResource {
  /// The fields.
  public static func view(of snapshot: Snapshot<Self>, backend: String) -> SnapshotView {
    SnapshotView(snapshot, of: name, backend: backend, snapshot.value.fields)
  }
}

extension TemplateResource where Self: PresentablePage {
  /// The name of the resource.
  public static var resource: String { name }
  /// None: the items are shown.
  public var fields: [Field] { [] }

  /// The items.
  public static func view(of snapshot: Snapshot<Self>, backend: String) -> SnapshotView {
    SnapshotView(snapshot, backend: backend)
  }
}

extension ToolResource {
  /// The resource `resource`, with the keys `baseURL`, `timeout`, `maxResponseBytes`, `maxConcurrentRequests` and `headers`
  /// in `origin.NAME`. If its name or its URL is wrong, every command fails and says why.
  public init<Resource: TemplateResource>(_ resource: Resource.Type) {
    self.init(TemplateOptions<Resource>.self, sections: [TemplateSettings<Resource>.self])
    do throws(CacheError) {
      if CacheKey.reservedNamespaces.contains(Resource.name) {
        throw CacheError(.invalidKey, "the cache itself uses that name")
      }
      let names = try URLTemplate(Resource.url).names
      _ = try CacheKey(for: TemplateRequest(namespace: Resource.name, origin: "", names: names, arguments: names))
    } catch {
      defect = ConfigurationError(
        .defect, "the resource '\(Resource.name)' cannot be used: \(error.message)", hint: "correct it in the program")
    }
  }
}

/// A URL with placeholders, such as https://example.com/{country}/cities?order={order}.
struct URLTemplate {
  /// The names of the placeholders, in order.
  private(set) var names: [String] = []
  /// The address of the server.
  let server: String
  /// The texts before, between and after the placeholders.
  private var texts: [String] = []

  /// - Throws: `CacheError` with the code `invalidRequest` if `template` is not such a URL.
  init(_ template: String) throws(CacheError) {
    func mistake(_ what: String) -> CacheError { CacheError(.invalidRequest, "its URL '\(template)' \(what)") }
    var rest = template[...]
    while let start = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[start] == "{", let end = rest[start...].firstIndex(of: "}") else {
        throw mistake("has a brace without its counterpart")
      }
      let name = String(rest[start..<end].dropFirst())
      guard name.utf8.first?.isASCIILetter == true,
        name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-_".utf8.contains($0) })
      else { throw mistake("has the placeholder {\(name)}: its name must be a letter, then letters, digits, - and _") }
      if names.contains(name) { throw mistake("has the placeholder {\(name)} twice") }
      if name == "origin" { throw mistake("has the placeholder {origin}: the key has the server under this name") }
      names.append(name)
      texts.append(String(rest[..<start]))
      rest = rest[end...].dropFirst()
    }
    texts.append(String(rest))
    guard let start = URLReference(texts[0]), let server = start.server, start.userInfo == nil,
      start.scheme == "https" || start.scheme == "http", names.isEmpty || !start.path.isEmpty || start.query != nil
    else { throw mistake("must begin with https:// or http:// and a server, without user and placeholders") }
    if template.utf8.contains(UInt8(ascii: "#")) { throw mistake("has a fragment, which requests do not have") }
    self.server = "\(server)/"
    do throws(CacheError) { _ = try target(names) } catch { throw mistake("is not valid: \(error.message)") }
  }

  /// The path and the query with `values`, which it encodes, in place of the placeholders.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if a value would lead to another folder.
  func target(_ values: [String]) throws(CacheError) -> String {
    var text = texts[0]
    for (value, next) in zip(values, texts.dropFirst()) { text += PercentEncoding.text(value) + next }
    guard let url = URLReference(text) else { throw CacheError(.invalidRequest, "it cannot be parsed") }
    let path = url.path.isEmpty ? "/" : url.path
    guard URLReference.withoutDots(path) == path else {
      throw CacheError(.invalidRequest, "a part of the path of a URL must not be '.' or '..'")
    }
    return path + (url.query.map { "?\($0)" } ?? "")
  }
}

/// The configuration of the server of a template, which is by default the server in its URL.
struct TemplateSettings<Resource: TemplateResource>: ConfigurationSection {
  static var path: String { "origin.\(Resource.name)" }

  let baseURL: String?
  let transport: Configuration.Transport

  init(_ keys: inout SectionReader) {
    let server = (try? URLTemplate(Resource.url))?.server
    baseURL = keys.key("baseURL", .url, default: server.map(SettingValue.text), help: "the address of the server")?.text
    transport = keys.transport()
  }
}

/// The request for the value that arguments select.
struct TemplateRequest: CacheableRequest {
  static let resource = "template"

  let namespace: String
  let origin: String
  let names: [String]
  let arguments: [String]

  var parameters: [(name: String, value: String)] { [("origin", origin)] + zip(names, arguments).map { ($0, $1) } }
}

/// The server of a template.
private struct TemplateOrigin<Resource: TemplateResource>: HTTPOrigin {
  typealias Request = TemplateRequest
  typealias Response = Resource

  let server: OriginServer
  let template: URLTemplate
  var name: String { server.baseURL.originName("http") }

  func endpoint(for request: TemplateRequest) throws(CacheError) -> Endpoint {
    Endpoint(
      ([Resource.name] + request.arguments).joined(separator: " "), baseURL: server.baseURL,
      target: try template.target(request.arguments), fields: ["Accept": "application/json"])
  }

  func decode(_ response: HTTP.Response, for request: TemplateRequest) throws(CacheError) -> Resource {
    let json = try AnswerValue(response, origin: name)
    let key = try CacheKey(for: request)
    do throws(CacheError) { return try Resource.codec.decode(response.body.span, key, "application/json") } catch {
      throw json.mistake(error)
    }
  }
}

extension AnswerValue {
  /// The error that a codec found, in the words for values that are read one by one.
  fileprivate func mistake(_ error: CacheError) -> CacheError {
    switch error.cause as? DecodingError {
    case .keyNotFound(let key, let context): value(at: context).missing(key.stringValue)
    case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
      value(at: context).unexpected("of type \(type)")
    case .dataCorrupted(let context): value(at: context).mistake("is wrong: \(context.debugDescription)")
    default: mistake("has another shape: \(error.cause.map { "\($0)" } ?? error.message)")
    }
  }

  private func value(at context: DecodingError.Context) -> AnswerValue {
    context.codingPath.reduce(self) { value, key in
      let element = key.intValue.flatMap { index in (try? value.elements)?.dropFirst(index).first }
      return element ?? (try? value.member(key.stringValue)) ?? value
    }
  }
}

/// The arguments of a template.
struct TemplateOptions<Resource: TemplateResource>: FetchableOptions {
  /// The placeholder of an argument, from which the command line derives its name.
  private struct Placeholder: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  static var resourceName: String { Resource.name }
  static var abstract: String { Resource.abstract }
  static var discussion: String {
    "The response comes from \(Resource.url). The setting `origin.\(Resource.name).baseURL` can name another server."
  }

  private static var names: [String] { (try? URLTemplate(Resource.url))?.names ?? [] }

  private let arguments: [Argument<String>]

  init() { arguments = Self.names.map { Argument(help: "The value of {\($0)} in the URL") } }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Placeholder.self)
    arguments = try Self.names.map { try container.decode(Argument.self, forKey: Placeholder(stringValue: $0)) }
  }

  func validate() throws(ValidationError) {
    for (name, argument) in zip(Self.names, arguments) where argument.wrappedValue.isEmpty {
      throw ValidationError("the value of {\(name)} must not be empty")
    }
  }

  func snapshots(_ context: ResourceContext, _ options: FetchOptions) throws(CacheError) -> Snapshots<Resource> {
    let template = try URLTemplate(Resource.url)
    let settings = context.configuration.section(TemplateSettings<Resource>.self)
    let server = try context.server(at: settings.baseURL ?? template.server, settings.transport)
    let origin = TemplateOrigin<Resource>(server: server, template: template)
    let request = TemplateRequest(
      namespace: Resource.name, origin: origin.name, names: template.names, arguments: arguments.map(\.wrappedValue))
    return fetch(
      request, storage: EngineResponseStorage(store: context.store, codec: Resource.codec), origin: origin,
      services: context.services, options: options
    ) { $0 }
  }

  func view(of snapshot: Snapshot<Resource>, backend: String) -> SnapshotView {
    Resource.view(of: snapshot, backend: backend)
  }
}
