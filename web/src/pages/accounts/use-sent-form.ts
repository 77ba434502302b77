import { type FormEvent, useState } from 'react'
import { useProblemText } from './problem.tsx'

type Fields = Record<string, FormDataEntryValue>

/** A form that sends its fields. `problem`: why the last attempt failed. */
export function useSentForm(send: (fields: Fields) => Promise<unknown>) {
  const problemText = useProblemText()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const sendOnce = async (fields: Fields) => {
    setBusy(true)
    try {
      await send(fields)
    } catch (error) {
      setProblem(problemText(error))
    } finally {
      setBusy(false)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void sendOnce(Object.fromEntries(new FormData(event.currentTarget)))
  }
  return { submit, problem, isBusy }
}
