import CacheData
import CacheDomain
import SampleOrigin
import Testing

struct ValidatorTests {
  private static let cityRequests = [
    CitiesQuery(), CitiesQuery(page: 1), CitiesQuery(order: .name), CitiesQuery(direction: .ascending),
  ].map { CitiesRequestDTO(origin: "sample", query: $0) }

  @Test func theOriginsAreCalledSample() {
    #expect(SampleCityOrigin().name == "sample")
    #expect(SampleMovieOrigin().name == "sample")
    #expect(SamplePosterOrigin().name == "sample")
  }

  @Test func aClientThatHasTheAnswerGetsNotModified() async throws {
    try await isConfirmed(SampleCityOrigin(), CitiesRequestDTO(origin: "sample", query: CitiesQuery()))
    try await isConfirmed(SampleMovieOrigin(), moviesRequest("heat"))
    try await isConfirmed(SamplePosterOrigin(), posterRequest("/24871.png"))
  }

  private func isConfirmed<Origin: ResponseOrigin>(_ origin: Origin, _ request: Origin.Request) async throws {
    let validator = try await origin.validator(of: request)
    #expect(validator.hasPrefix("\"sample-2026-10-18-"))
    let confirmation = try await origin.answer(to: request, conditions: ["If-None-Match": validator])
    #expect(confirmation.head.status == 304)
    #expect(confirmation.response == nil)
    let answer = try await origin.answer(to: request, conditions: ["If-None-Match": "\"sample-2020-01-01\""])
    #expect(answer.head.status == 200)
    #expect(answer.head.fields["etag"] == validator)
    #expect(answer.response != nil)
  }

  @Test func validatorsDifferFromRequestToRequest() async throws {
    var validators: Set<String> = []
    for request in Self.cityRequests {
      validators.insert(try await SampleCityOrigin().validator(of: request))
    }
    #expect(validators.count == Self.cityRequests.count)
  }

  /// A request that is wrong stays wrong, whatever validator comes with it.
  @Test func aWrongRequestIsRefusedWithAnyValidator() async throws {
    let validator = try await SamplePosterOrigin().validator(of: posterRequest("/24871.png"))
    await #expect(throws: CacheError.self) {
      try await SamplePosterOrigin().answer(to: posterRequest("/0.png"), conditions: ["If-None-Match": validator])
    }
  }

  @Test func aCancelledTaskGetsNoAnswer() async throws {
    try await isCancelled(SampleCityOrigin(), CitiesRequestDTO(origin: "sample", query: CitiesQuery()))
    try await isCancelled(SampleMovieOrigin(), moviesRequest("heat"))
    try await isCancelled(SamplePosterOrigin(), posterRequest("/24871.png"))
  }

  private func isCancelled<Origin: ResponseOrigin>(_ origin: Origin, _ request: Origin.Request) async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await origin.response(to: request)
    }
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }
}
