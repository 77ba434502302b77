import fs from 'node:fs'

export interface Plot {
  title: string
  /** What the sizes count. */
  axis: string
  /** Ascending. */
  sizes: readonly number[]
  /** Shown below the axis: where the values are from. */
  note?: string
  /** A value for each size. */
  lines: readonly { name: string; values: readonly number[] }[]
}

const width = 760
const height = 360
const area = { left: 60, top: 40, right: 470, bottom: 310 }
const colours = ['#1971c2', '#e8590c', '#2f9e44', '#9c36b5', '#c92a2a', '#0b7285', '#5f3dc4', '#866118']

/** Writes lines as SVG: a logarithmic axis of sizes, and a linear one of values from zero. */
export function writePlot(file: string, { title, axis, sizes, note, lines }: Plot): void {
  const [first, last] = [Math.log10(sizes[0]!), Math.log10(sizes.at(-1)!)]
  const top = roundedUp(Math.max(...lines.flatMap(({ values }) => values)))
  const x = (size: number) => area.left + ((Math.log10(size) - first) / (last - first || 1)) * (area.right - area.left)
  const y = (value: number) => area.bottom - (value / top) * (area.bottom - area.top)
  const axes = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(share * top).toFixed(1)
    return `<line x1="${area.left}" y1="${at}" x2="${area.right}" y2="${at}" stroke="#ced4da"/>${text(area.left - 8, Number(at) + 4, String(Number((share * top).toPrecision(3))), 'end')}`
  })
  const labels = sizes.map((size) => text(x(size), area.bottom + 20, `${size.toLocaleString('en')}`, 'middle'))
  const drawn = lines.map(({ name, values }, index) => {
    const colour = colours[index % colours.length]!
    const points = values.map((value, place) => `${x(sizes[place]!).toFixed(1)},${y(value).toFixed(1)}`)
    const dots = points.map(
      (point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour}"/>`,
    )
    const at = area.top + 10 + index * 22
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}
<rect x="${area.right + 20}" y="${at - 9}" width="12" height="3" fill="${colour}"/>${text(area.right + 38, at - 3, name)}`
  })
  const fullHeight = note === undefined ? height : height + 24
  fs.writeFileSync(
    file,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${fullHeight}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${fullHeight}" fill="#fff"/>
${text(area.left, 22, title)}
${[...axes, ...labels, text((area.left + area.right) / 2, area.bottom + 40, axis, 'middle'), ...drawn].join('\n')}
${note === undefined ? '' : text(area.left, height + 12, note)}
</svg>
`,
  )
}

function text(x: number, y: number, words: string, anchor = 'start'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="#212529">${escaped(words)}</text>`
}

const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** 1, 2 or 5 times a power of ten, at least the value. */
function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value)!
}
