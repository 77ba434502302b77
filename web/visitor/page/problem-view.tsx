import { useEffect, useState } from 'preact/hooks'
import { fill } from '../texts/choose-texts.ts'
import type { Texts } from '../texts/en.ts'
import type { Problem } from './history.ts'

/** Problems that another try may solve. */
const retryable = new Set<Problem['kind']>(['rate', 'attempts', 'offline', 'busy', 'failed', 'budget', 'paused'])

/** What went wrong in the words of the visitor, and the way on. A wait is counted down. */
export function ProblemView(props: { problem: Problem; texts: Texts; onRetry: (() => void) | undefined }) {
  const { problem, texts, onRetry } = props
  const seconds = useSecondsUntil(problem.retryAt)
  const text = textOf(problem, seconds, texts)
  // A screen reader would read each second of a countdown.
  const [announced] = useState(text)
  return (
    <div class="problem">
      <p>
        <span class="hidden" role="alert">
          {announced}
        </span>
        <span aria-hidden="true">{text}</span>
      </p>
      {onRetry && retryable.has(problem.kind) && (
        <button type="button" class="button" onClick={onRetry} disabled={seconds > 0 && problem.kind !== 'budget'}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}

function textOf({ kind, retryAt }: Problem, seconds: number, texts: Texts): string {
  if (kind === 'budget') {
    if (retryAt === undefined) return texts.problem.budgetLater
    return seconds > 0 ? fill(texts.problem.budget, { time: timeOf(retryAt) }) : texts.problem.rateOver
  }
  if (kind !== 'rate' && kind !== 'attempts') return texts.problem[kind]
  return seconds > 0 ? fill(texts.problem[kind], { seconds }) : texts.problem[`${kind}Over`]
}

/** `Monday at 12:00 AM`, in the language of the page. It is less than a week away. */
const timeOf = (atMs: number) =>
  new Intl.DateTimeFormat(document.documentElement.lang, {
    weekday: 'long',
    hour: 'numeric',
    minute: '2-digit',
  }).format(atMs)

function useSecondsUntil(time: number | undefined): number {
  const left = () => (time === undefined ? 0 : Math.max(0, Math.ceil((time - Date.now()) / 1_000)))
  const [seconds, setSeconds] = useState(left)
  useEffect(() => {
    setSeconds(left())
    if (left() === 0) return
    const timer = setInterval(() => {
      setSeconds(left())
      if (left() === 0) clearInterval(timer)
    }, 500)
    return () => clearInterval(timer)
  }, [time])
  return seconds
}
