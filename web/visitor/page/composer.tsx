import { useEffect, useRef, useState } from 'preact/hooks'
import { visitLimits } from './limits.ts'
import { Icon } from './icons.tsx'
import { usePage } from './page-context.ts'

/** The field for the question. Enter sends, Shift and Enter begins a line. */
export function Composer({ field, isRunning }: { field: { current: HTMLTextAreaElement | null }; isRunning: boolean }) {
  const { texts, chat } = usePage()
  const [question, setQuestion] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const element = field.current
    // Browsers without field-sizing.
    if (!element || CSS.supports('field-sizing', 'content')) return
    element.style.setProperty('height', 'auto')
    element.style.setProperty('height', `${element.scrollHeight + 2}px`)
  }, [question])
  const send = () => {
    if (isRunning || question.trim() === '') return
    void chat.ask(question)
    setQuestion('')
  }
  return (
    <form
      ref={form}
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        dir="auto"
        rows={1}
        maxLength={visitLimits.question}
        value={question}
        placeholder={texts.placeholder}
        aria-label={texts.placeholder}
        enterkeyhint="send"
        onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
        onKeyDown={(event) => {
          // An input method uses Enter to choose a word.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isRunning ? (
        <button type="button" class="send" aria-label={texts.stop} title={texts.stop} onClick={() => chat.stop()}>
          <Icon name="stop" />
        </button>
      ) : (
        <button type="submit" class="send" aria-label={texts.send} title={texts.send} disabled={question.trim() === ''}>
          <Icon name="send" />
        </button>
      )}
    </form>
  )
}
