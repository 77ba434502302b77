import { type KeyboardEvent, type MouseEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import styles from './chart.module.css'
import type { ChartProps } from './chart-props.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { type Frame, yOf } from './geometry.ts'

/** Shows the values of the place below the pointer, or of the one that arrow keys choose. */
export function ChartReader(props: ChartProps & { frame: Frame; top: number }) {
  const { kind, series, frame, top } = props
  const { t } = useTranslation()
  const [chosen, setChosen] = useState<number>()
  const last = (series[0]?.values.length ?? 0) - 1
  if (last < 0) return null
  // New data may have fewer places.
  const place = chosen === undefined || chosen > last ? undefined : chosen
  const onMouseMove = ({ clientX, currentTarget }: MouseEvent<HTMLElement>) => {
    const x = clientX - currentTarget.getBoundingClientRect().left
    setChosen(Math.min(last, Math.max(0, Math.floor(x / frame.slot))))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfterKey(event.key, place, last)
    if (next === 'none') return
    event.preventDefault()
    setChosen(next)
  }
  return (
    <div
      className={styles['reader']}
      style={{ left: frame.axisWidth, top, height: frame.height }}
      role="application"
      aria-label={t('chart.keys')}
      tabIndex={0}
      onMouseMove={onMouseMove}
      onMouseLeave={() => setChosen(undefined)}
      onKeyDown={onKeyDown}
      onBlur={() => setChosen(undefined)}
    >
      {place !== undefined && (
        <svg width={frame.width} height={frame.height} aria-hidden>
          <rect className={styles['slot']} x={place * frame.slot} width={frame.slot} height={frame.height} />
          {kind === 'lines' &&
            series.map(({ values, colour }, at) => {
              const value = values[place] ?? null
              return (
                value !== null && (
                  <circle key={at} cx={(place + 0.5) * frame.slot} cy={yOf(frame, value)} r={4} fill={colour} />
                )
              )
            })}
        </svg>
      )}
      <div className={styles['tooltip']} style={place === undefined ? {} : nextToSlot(frame, place)} role="status">
        {place !== undefined && <PlaceTooltip {...props} place={place} />}
      </div>
    </div>
  )
}

/** 'none': the key has no meaning here. */
function placeAfterKey(key: string, place: number | undefined, last: number): number | undefined | 'none' {
  switch (key) {
    case 'ArrowRight':
      return place === undefined ? 0 : Math.min(last, place + 1)
    case 'ArrowLeft':
      return place === undefined ? last : Math.max(0, place - 1)
    case 'Home':
      return 0
    case 'End':
      return last
    case 'Escape':
      return place === undefined ? 'none' : undefined
    default:
      return 'none'
  }
}

/** On the side that has more room. */
function nextToSlot({ slot, width }: Frame, place: number) {
  const [left, right] = [(place + 1) * slot + 8, width - place * slot + 8]
  const isLeftHalf = (place + 0.5) * slot < width / 2
  return { maxWidth: width - (isLeftHalf ? left : right), ...(isLeftHalf ? { left } : { right }) }
}

function PlaceTooltip(props: ChartProps & { place: number }) {
  const { series, format, placeLabel, placeTitle = placeLabel, moreLines, place } = props
  const lines = series.flatMap(({ label, colour, values }) => {
    const value = values[place] ?? null
    return value === null ? [] : [{ name: label, value: format(value), colour }]
  })
  return <ChartTooltip title={placeTitle(place)} lines={[...lines, ...(moreLines?.(place) ?? [])]} />
}
