/// The style of the report page.
///
/// A colour has one meaning: each backend has one of six in all figures, green is faster than before, and red is slower
/// or failed. The best of a group is in bold. The six have a contrast of at least 3 to 1 against both backgrounds (WCAG
/// 2.2, 1.4.11). On paper all are black, and dashes and marks tell the lines apart.
enum BenchmarkReportStyle {
  static let css = """
    :root { color-scheme: light dark; --text: #1b1f24; --dim: #57606a; --rule: #d5dae0; --page: #ffffff; \
    --card: #f6f8fa; --better: #1a6f3c; --wrong: #c00020; --s0: #2458b8; --s1: #a85a00; --s2: #7d2f9b; \
    --s3: #0c7385; --s4: #6b6f00; --s5: #b0277a; }
    @media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --dim: #9aa4af; --rule: #3a424c; --page: #14181d; \
    --card: #1d2229; --better: #4fb477; --wrong: #ff7a70; --s0: #7fa8ff; --s1: #f0a04f; --s2: #cf8ff0; \
    --s3: #4cc0d4; --s4: #d3d04a; --s5: #ff8fc8; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 78rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text); \
    font: 16px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
    .remark { color: var(--dim); margin: 0 0 1rem; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; font-size: .9rem; }
    dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
    .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
    figure { margin: 0; padding: 1rem; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; \
    break-inside: avoid; }
    figcaption { font-weight: 600; margin-bottom: .5rem; }
    .bars ul, .legend { list-style: none; margin: 0; padding: 0; }
    .bars li { display: grid; grid-template-columns: 7rem 1fr; column-gap: .75rem; align-items: center; \
    margin-bottom: .4rem; }
    .name { overflow-wrap: anywhere; } .track { height: 1.1rem; }
    .bar { display: block; height: 100%; min-width: 2px; background: var(--series); border-radius: 0 .2rem .2rem 0; }
    .value { grid-column: 2; font-size: .85rem; color: var(--dim); font-variant-numeric: tabular-nums; }
    .mistake { color: var(--wrong); overflow-wrap: anywhere; }
    .skipped { color: var(--dim); overflow-wrap: anywhere; }
    figure.lines > svg { display: block; width: 100%; height: auto; }
    svg text { font: 13px system-ui, sans-serif; fill: var(--dim); }
    .grid { stroke: var(--rule); stroke-width: 1; }
    .line { fill: none; stroke-width: 2; }
    .series0 { --series: var(--s0); } .series1 { --series: var(--s1); } .series2 { --series: var(--s2); } \
    .series3 { --series: var(--s3); } .series4 { --series: var(--s4); } .series5 { --series: var(--s5); }
    .line, .mark { stroke: var(--series); fill: var(--series); }
    polyline.line { fill: none; }
    .line.series1 { stroke-dasharray: 8 4; } .line.series2 { stroke-dasharray: 2 4; } \
    .line.series3 { stroke-dasharray: 10 4 2 4; } .line.series4 { stroke-dasharray: 4 2; } \
    .line.series5 { stroke-dasharray: 1 3; }
    .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .9rem; }
    .legend svg { width: 28px; height: 16px; vertical-align: middle; margin-right: .35rem; }
    .figures { overflow-x: auto; }
    table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
    th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
    th:first-child, td:first-child, th:nth-child(3), td:nth-child(3) { text-align: left; }
    .better td:nth-child(4) { color: var(--better); } .worse td:nth-child(4) { color: var(--wrong); font-weight: 600; }
    .best td, .best .name, .best .value { font-weight: 600; } td.reason { text-align: left; color: var(--dim); }
    @media (max-width: 40rem) { svg text { font-size: 20px; } .bars li { grid-template-columns: 5.5rem 1fr; } \
    dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
    @media print { :root { --text: #000; --dim: #000; --rule: #999; --page: #fff; --card: #fff; \
    --better: #000; --wrong: #000; --s0: #000; --s1: #000; --s2: #000; --s3: #000; --s4: #000; --s5: #000; } \
    body { max-width: none; padding: 0; font-size: 11px; } .bar { background: #bbb; border: 1px solid #000; \
    print-color-adjust: exact; } .figures { overflow: visible; } }
    """
}
