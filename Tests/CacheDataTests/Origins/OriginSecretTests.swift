import CacheData
import FetchVocabulary
import Testing

/// Secrets are sent, and appear nowhere else.
struct OriginSecretTests {
  private static let key = "k3y/with+signs"
  private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln-bmF0_dXJl"
  private static let password = "aHVudGVyMg=="
  /// The secrets as they are, and percent-encoded as in URLs.
  private static let forms = [key, "k3y%2Fwith%2Bsigns", token, password, "aHVudGVyMg%3D%3D"]

  private func origin(_ key: String, _ transfer: FakeTransfer) throws -> TMDBMovieOrigin {
    TMDBMovieOrigin(
      try server(
        "https://a.example", transfer, credentials: .tmdb(key), fields: ["X-Plain": "of"],
        secretFields: ["X-Secret": "Basic \(Self.password)"]))
  }

  private func isFree(_ text: String) -> Bool {
    Self.forms.allSatisfy { !text.lowercased().contains($0.lowercased()) }
  }

  @Test(arguments: [key, token])
  func descriptionsDoNotShowIt(key: String) throws {
    let origin = try origin(key, FakeTransfer())
    var dumped = ""
    dump(origin, to: &dumped)
    dump(OriginCredentials.tmdb(key), to: &dumped)
    dump(try origin.endpoint(for: Asked.movies()), to: &dumped)
    let texts = [
      "\(origin)", String(reflecting: origin), "\(origin.server)", String(reflecting: origin.server), dumped,
    ]
    let credentials = OriginCredentials.tmdb(key)
    for text in texts + ["\(credentials)", String(reflecting: credentials), origin.name] { #expect(isFree(text)) }
    let request = MoviesRequestDTO(origin: origin.name, query: try Asked.movies().query, page: 1)
    for (_, value) in request.parameters { #expect(isFree(value)) }
    #expect(isFree(try origin.message(for: Asked.movies()).url))
  }

  @Test(arguments: [(key, key), (key, "k3y%2Fwith%2Bsigns"), (token, token), (key, password), (token, password)])
  func aBodyThatRepeatsItIsNotQuoted(key: String, form: String) async throws {
    let body = #"{"status_message": "the key \#(form) is wrong", "\#(form)": "\#(form)"}"#
    for status in [200, 206, 301, 400, 401, 404, 418, 422, 429, 500, 503] {
      for body in [body, body.uppercased(), body.lowercased(), "<html>\(form)"] {
        let transfer = FakeTransfer(status, ["X-Secret": form, "Location": "https://\(form)/\(form)?\(form)"], body)
        let request = try Asked.movies()
        let origin = try origin(key, transfer)
        let error = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
        #expect(error?.message.isEmpty == false)
        #expect(isFree(String(reflecting: error)), "\(status) \(body)")
      }
    }
  }

  private struct Cause: Error { let url: String }

  @Test func aTransferThatShowsItIsSilenced() async throws {
    let url = "https://a.example/?api_key=k3y%2Fwith%2Bsigns"
    let errors = [
      CacheError(.originUnreachable, "GET \(url) failed", hint: "try again"),
      CacheError(.originUnreachable, "it failed", hint: "open \(url)"),
      CacheError(.originUnreachable, "it failed", hint: "try again", cause: Cause(url: url)),
    ]
    let request = try Asked.movies()
    for error in errors {
      let origin = try origin(Self.key, FakeTransfer(failing: error))
      let found = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
      #expect(found?.code == .originUnreachable)
      #expect(found?.message.isEmpty == false && found?.hint.isEmpty == false)
      #expect(isFree(String(reflecting: found)))
    }
  }

  @Test func anInnocentCauseIsKept() async throws {
    let request = try Asked.movies()
    let error = CacheError(.originUnreachable, "it failed", cause: Cause(url: "https://a.example/"))
    let origin = try origin(Self.key, FakeTransfer(failing: error))
    let found = await failure { () throws(CacheError) in _ = try await origin.answer(to: request, conditions: [:]) }
    #expect(found?.cause is Cause)
  }
}
