internal import Base

/// The figures of a poster's artwork. Lengths are in widths of the poster, so that it looks the same in all sizes.
enum PosterPattern: Sendable {
  /// Rings around a centre.
  case rings(Disc, spacing: Double)
  /// Translucent discs that overlap.
  case discs([Disc])
  /// Slanting stripes, `spacing` apart, leaning by `slope`.
  case stripes(spacing: Double, slope: Double)
  /// A sun over hills.
  case hills(sun: Disc, hills: [Disc])
  /// A grid of dots that grow towards the bottom.
  case dots(spacing: Double)

  /// A disc.
  struct Disc: Sendable {
    var x: Double
    var y: Double
    var radius: Double

    /// How much of the pixel at a point is inside the disc: 0 to 1, with values between only at the edge, which is
    /// `pixel` wide.
    func coverage(_ x: Double, _ y: Double, pixel: Double) -> Double {
      let distance = ((x - self.x) * (x - self.x) + (y - self.y) * (y - self.y)).squareRoot()
      return min(max((radius - distance) / pixel + 0.5, 0), 1)
    }
  }

  /// A random pattern for artwork of the given height.
  static func random(_ random: inout SeededGenerator, height: Double) -> PosterPattern {
    switch random.next(below: 5) {
    case 0:
      let centre = disc(&random, height: height, radius: 0.08..<0.16)
      return .rings(centre, spacing: random.number(in: 0.09..<0.16))
    case 1:
      return .discs((0..<3).map { _ in disc(&random, height: height, radius: 0.22..<0.42) })
    case 2:
      let slope = random.number(in: 0.5..<1.4)
      return .stripes(spacing: random.number(in: 0.16..<0.34), slope: random.next(below: 2) == 0 ? slope : -slope)
    case 3: return hills(&random, height: height)
    default: return .dots(spacing: 1 / Double(7 + random.next(below: 6)))
    }
  }

  private static func disc(
    _ random: inout SeededGenerator, height: Double, radius: Range<Double>
  ) -> Disc {
    let x = random.number(in: 0.2..<0.8)
    return Disc(x: x, y: random.number(in: 0.25..<0.75) * height, radius: random.number(in: radius))
  }

  private static func hills(_ random: inout SeededGenerator, height: Double) -> PosterPattern {
    let sun = Disc(
      x: random.number(in: 0.25..<0.75), y: height * random.number(in: 0.28..<0.42),
      radius: random.number(in: 0.13..<0.22))
    let hills = (0..<3).map { index in
      let radius = random.number(in: 0.6..<1.1)
      let top = height * (0.58 + 0.14 * Double(index))
      return Disc(x: random.number(in: 0..<1), y: top + radius, radius: radius)
    }
    return .hills(sun: sun, hills: hills)
  }

  /// The strength of the figures at a point of artwork of the given height: 0 for the ground, 1 for a figure.
  func strength(_ x: Double, _ y: Double, height: Double, pixel: Double) -> Double {
    switch self {
    case .rings(let centre, let spacing): Self.rings(x, y, centre, spacing, pixel)
    case .discs(let discs): discs.reduce(0) { $0 + $1.coverage(x, y, pixel: pixel) * 0.34 }
    case .stripes(let spacing, let slope):
      Self.band(x + y * slope, spacing, pixel * (1 + slope * slope).squareRoot()) * 0.84
    case .hills(let sun, let hills): Self.hills(x, y, sun, hills, pixel)
    case .dots(let spacing): Self.dot(x, y, spacing, growth: y / height, pixel)
    }
  }

  private static func rings(
    _ x: Double, _ y: Double, _ centre: Disc, _ spacing: Double, _ pixel: Double
  ) -> Double {
    let distance = ((x - centre.x) * (x - centre.x) + (y - centre.y) * (y - centre.y)).squareRoot()
    let ring = band(distance - centre.radius + spacing / 2, spacing, pixel) * 0.67
    return max(centre.coverage(x, y, pixel: pixel), ring)
  }

  /// Bands as wide as the gaps between them: 1 in a band, 0 in a gap.
  private static func band(_ position: Double, _ spacing: Double, _ pixel: Double) -> Double {
    let turns = position / spacing
    let phase = (turns - turns.rounded(.down)) * spacing
    let distance = spacing / 4 - (phase - spacing / 2).magnitude
    return min(max(distance / pixel + 0.5, 0), 1)
  }

  private static func hills(
    _ x: Double, _ y: Double, _ sun: Disc, _ hills: [Disc], _ pixel: Double
  ) -> Double {
    var strength = sun.coverage(x, y, pixel: pixel)
    for (index, hill) in hills.enumerated() {
      let coverage = hill.coverage(x, y, pixel: pixel)
      strength += (0.2 + 0.22 * Double(index) - strength) * coverage
    }
    return strength
  }

  private static func dot(
    _ x: Double, _ y: Double, _ spacing: Double, growth: Double, _ pixel: Double
  ) -> Double {
    let row = (y / spacing).rounded(.down)
    // Every other row is shifted by half the spacing.
    let shift = row.truncatingRemainder(dividingBy: 2) * spacing / 2
    let column = ((x + shift) / spacing).rounded(.down)
    let dot = Disc(
      x: (column + 0.5) * spacing - shift, y: (row + 0.5) * spacing, radius: spacing * (0.08 + 0.36 * growth))
    return dot.coverage(x, y, pixel: pixel)
  }
}

extension SeededGenerator {
  /// A number from 0 up to, but not including, `bound`.
  mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// A number from `range`.
  mutating func number(in range: Range<Double>) -> Double {
    range.lowerBound + unit() * (range.upperBound - range.lowerBound)
  }
}
