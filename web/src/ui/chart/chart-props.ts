import type { TooltipLine } from './chart-tooltip.tsx'
import type { ChartValue } from './geometry.ts'

export interface ChartSeries {
  label: string
  colour: string
  /** One for each place. */
  values: ChartValue[]
  isDashed?: boolean
}

export interface ChartProps {
  /** Names the chart. The table next to it has the same figures for those who cannot see it. */
  label: string
  kind: 'bars' | 'lines'
  /** Of the plot and its axis, in pixels. */
  height: number
  series: ChartSeries[]
  format: (value: number) => string
  /** The place on the axis, for instance a day. */
  placeLabel: (place: number) => string
  /** Above the values of a place; without it, `placeLabel`. */
  placeTitle?: (place: number) => string
  /** Below the values of a place. */
  moreLines?: (place: number) => TooltipLine[]
  /** The top of the axis; without it, the largest value has room. */
  maximum?: number
  wholeNumbers?: boolean
}
