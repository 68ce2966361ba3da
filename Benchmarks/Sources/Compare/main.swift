internal import Glibc

// Arguments: reported|elapsed|processor LABEL ROUNDS FLOOR... -- PROJECT...
// Prints one row of a Markdown table.

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count > 3, let metric = Metric(rawValue: arguments[0]), let rounds = Int(arguments[2]), rounds > 0,
  let separator = arguments.firstIndex(of: "--")
else { exit(64) }

let floor = Program(command: Array(arguments[3..<separator]))
let project = Program(command: Array(arguments[(separator + 1)...]))
// Run once before the measurement: both then find their files in memory.
_ = try (floor.measure(metric), project.measure(metric))
var measurements = Comparison()
for _ in 0..<rounds { measurements.add(floor: try floor.measure(metric), project: try project.measure(metric)) }
print(measurements.row(label: arguments[1], unit: metric.unit))
