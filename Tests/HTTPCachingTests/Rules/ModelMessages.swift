import SeededNumbers

@testable import HTTPCaching

/// A response's directives as values. Its text is made from them, and the model never reads the text.
struct ModelControl: Sendable, Hashable {
  var flags: Set<String> = []
  var seconds: [String: Int] = [:]

  subscript(_ name: String) -> Bool { flags.contains(name) }

  var text: String {
    (flags.sorted() + seconds.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }).joined(separator: ", ")
  }

  static func random(_ generator: inout SeededGenerator) -> ModelControl {
    var control = ModelControl()
    let flags = [
      ("no-store", 20), ("no-cache", 12), ("private", 10), ("public", 6), ("must-revalidate", 8),
      ("proxy-revalidate", 8),
      ("must-understand", 20),
    ]
    for (name, odds) in flags where generator.isOne(in: odds) { control.flags.insert(name) }
    let seconds = [("max-age", 2), ("s-maxage", 5), ("stale-while-revalidate", 4), ("stale-if-error", 4)]
    for (name, odds) in seconds where generator.isOne(in: odds) {
      control.seconds[name] = generator.pick([0, 1, 10, 60, 100, 5_000_000_000])
    }
    return control
  }
}

/// A response as values. Times are seconds since `received`.
struct ModelResponse: Sendable, Hashable {
  var status = 200
  var date: Int?
  var age: Int?
  var expires: Int?
  var lastModified: Int?
  var tag: String?
  var control: ModelControl?
  var targeted: ModelControl?
  var vary: [String] = []

  var head: HTTP.ResponseHead {
    var fields: HTTP.Fields = [:]
    fields["Date"] = date.map { HTTPDate.text(received + .seconds($0)) }
    fields["Age"] = age.map(String.init)
    fields["Expires"] = expires.map { HTTPDate.text(received + .seconds($0)) }
    fields["Last-Modified"] = lastModified.map { HTTPDate.text(received + .seconds($0)) }
    fields["ETag"] = tag
    fields["Cache-Control"] = control?.text
    fields["CDN-Cache-Control"] = targeted?.text
    fields["Vary"] = vary.isEmpty ? nil : vary.joined(separator: ", ")
    return HTTP.ResponseHead(status: status, fields: fields)
  }

  static func random(at now: Int, _ generator: inout SeededGenerator) -> ModelResponse {
    var response = ModelResponse()
    response.status = generator.pick([200, 200, 200, 200, 404, 301, 302, 599])
    response.date = generator.pick([nil, now, now, now - 20, now + 20, now - 4_000_000_000])
    response.age = generator.pick([nil, nil, nil, 0, 15, 9_000_000_000])
    response.expires = generator.pick([nil, nil, now - 10, now, now + 50, now + 4_000_000_000])
    // Then a tenth of the time since then is an integer.
    let made = response.date ?? now
    response.lastModified = generator.pick([nil, made - 100, made - 5_000, made, made + 30, made - 90_000_000])
    response.tag = generator.pick([nil, nil, "\"a\"", "\"b\"", "W/\"a\""])
    response.control = generator.isOne(in: 3) ? nil : .random(&generator)
    if generator.isOne(in: 6) { response.targeted = .random(&generator) }
    response.vary = generator.pick([[], [], ["a"], ["a", "b"], ["b"], generator.isOne(in: 5) ? ["*"] : []])
    return response
  }

  /// A 304 that confirms this response, or another one.
  func confirmation(at now: Int, _ generator: inout SeededGenerator) -> ModelResponse {
    var news = ModelResponse.random(at: now, &generator)
    news.status = 304
    if !generator.isOne(in: 3) { (news.tag, news.lastModified) = (tag, lastModified) }
    if generator.isOne(in: 4) { (news.tag, news.lastModified) = (nil, nil) }
    if !generator.isOne(in: 4) { news.vary = generator.pick([[], vary]) }
    return news
  }
}

/// A request as values.
struct ModelRequest: Sendable, Hashable {
  var method = "GET"
  var selecting: [String: String] = [:]
  var credentials: String?
  var flags: Set<String> = []
  var seconds: [String: Int] = [:]
  var hasPragma = false

  var message: HTTP.Request {
    var fields: HTTP.Fields = [:]
    for (name, value) in selecting { fields[name] = value }
    fields["Authorization"] = credentials
    let control = ModelControl(flags: flags, seconds: seconds).text
    fields["Cache-Control"] = control.isEmpty ? nil : control
    if hasPragma { fields["Pragma"] = "no-cache" }
    return .testing(fields, method: method)
  }

  static func random(_ generator: inout SeededGenerator) -> ModelRequest {
    var request = ModelRequest()
    request.method = generator.pick(["GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "OPTIONS"])
    for name in ["a", "b"] where generator.isOne(in: 2) { request.selecting[name] = generator.pick(["1", "2"]) }
    request.credentials = generator.pick([nil, nil, nil, "x", "y"])
    request.hasPragma = generator.isOne(in: 20)
    for (name, odds) in [("no-cache", 15), ("no-store", 20), ("only-if-cached", 12), ("max-stale", 12)]
    where generator.isOne(in: odds) { request.flags.insert(name) }
    for (name, odds) in [("max-age", 8), ("min-fresh", 10), ("stale-if-error", 20)] where generator.isOne(in: odds) {
      request.seconds[name] = generator.pick([0, 1, 20, 60, 9_000_000_000])
    }
    if !request.flags.contains("max-stale"), generator.isOne(in: 12) {
      request.seconds["max-stale"] = generator.pick([0, 10, 100])
    }
    return request
  }
}
