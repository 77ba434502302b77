import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import styles from './chart.module.css'
import { ChartReader } from './chart-reader.tsx'
import type { ChartProps } from './chart-props.ts'
import {
  createFrame,
  type Frame,
  isRoomy,
  labelPlaces,
  largestOf,
  linePaths,
  stackedBars,
  textWidth,
  valueTicks,
  yOf,
} from './geometry.ts'

/** Above the plot half of a label, below it the labels of the places. */
const margins = { top: 8, bottom: 24 }

/** Stacked bars or lines. Each series is one path: a year of days costs the browser little more than a month. */
export function Chart(props: ChartProps) {
  const { label, kind, height, series, format, maximum, wholeNumbers } = props
  const { ref, width } = useElementSize()
  const [highlighted, setHighlighted] = useState<number>()
  const values = series.map((one) => one.values)
  const ticks = valueTicks(maximum ?? largestOf(values, kind === 'bars'), wholeNumbers)
  const size = { width, height: height - margins.top - margins.bottom, count: values[0]?.length ?? 0 }
  const frame = createFrame(size, ticks, format)
  return (
    <figure className={styles['chart']} aria-label={label}>
      {/* Days run from left to right in every language. */}
      <div ref={ref} className={styles['place']} style={{ height }} dir="ltr">
        {frame.width > 0 && (
          <>
            <svg width={width} height={height} aria-hidden>
              <g transform={`translate(${frame.axisWidth} ${margins.top})`}>
                <Axes {...props} frame={frame} />
                <Marks kind={kind} series={series} frame={frame} highlighted={highlighted} />
              </g>
            </svg>
            <ChartReader {...props} frame={frame} top={margins.top} />
          </>
        )}
      </div>
      {series.length > 1 && <Legend kind={kind} series={series} onHighlight={setHighlighted} />}
    </figure>
  )
}

function Axes({ series, format, placeLabel, frame }: ChartProps & { frame: Frame }) {
  const count = series[0]?.values.length ?? 0
  const labelWidth = count > 0 ? textWidth(placeLabel(count - 1)) : 0
  return (
    <>
      {frame.ticks.map((tick) => (
        <g key={tick} transform={`translate(0 ${yOf(frame, tick)})`}>
          <line className={styles['grid']} x2={frame.width} />
          <text x={-12} dy="0.35em" textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labelPlaces(frame, count, labelWidth).map(({ place, centre }) => (
        <text key={place} x={centre} y={frame.height + 18} textAnchor="middle">
          {placeLabel(place)}
        </text>
      ))}
    </>
  )
}

interface MarksProps extends Pick<ChartProps, 'kind' | 'series'> {
  frame: Frame
  highlighted: number | undefined
}

function Marks({ kind, series, frame, highlighted }: MarksProps) {
  const opacity = (place: number) => (highlighted === undefined || highlighted === place ? 1 : 0.15)
  if (kind === 'bars') {
    const paths = stackedBars(
      series.map(({ values }) => values),
      frame,
    )
    const bars = paths.map((path, place) => (
      <path key={place} d={path} fill={series[place]!.colour} opacity={opacity(place)} />
    ))
    return <g className={isRoomy(frame) ? styles['bars'] : undefined}>{bars}</g>
  }
  return series.map(({ values, colour, isDashed }, place) => {
    const { line, dots } = linePaths(values, frame)
    return (
      <g key={place} className={styles['line']} stroke={colour} opacity={opacity(place)}>
        <path d={line} {...(isDashed && { strokeDasharray: '6 4' })} />
        <path className={styles['dots']} d={dots} />
      </g>
    )
  })
}

interface LegendProps extends Pick<ChartProps, 'kind' | 'series'> {
  onHighlight: (place: number | undefined) => void
}

function Legend({ kind, series, onHighlight }: LegendProps) {
  return (
    <ul className={styles['legend']}>
      {series.map(({ label, colour, isDashed }, place) => (
        <li key={place} onMouseEnter={() => onHighlight(place)} onMouseLeave={() => onHighlight(undefined)}>
          <svg width={kind === 'bars' ? 10 : 20} height={10} aria-hidden>
            {kind === 'bars' ? (
              <rect width={10} height={10} rx={2} fill={colour} />
            ) : (
              <line
                x2={20}
                y1={5}
                y2={5}
                stroke={colour}
                strokeWidth={2}
                {...(isDashed && { strokeDasharray: '6 4' })}
              />
            )}
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}
