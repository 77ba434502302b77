import { lazy, Suspense, useSyncExternalStore } from 'react'
import { onExpiredSession } from '../api/session-renewal.ts'
import { withTexts } from '../i18n/translations.ts'
import { queryClient } from './query-client.ts'
import { sessionQuery } from './session.ts'

/** The dialog of an expired session: the page behind it keeps what was typed. Its code loads when it is first needed. */

const SignInAgain = lazy(async () => {
  const { SignInAgain: Dialog } = await withTexts('accounts', import('../pages/accounts/sign-in-again.tsx'))
  return { default: Dialog }
})

let answer: ((isRenewed: boolean) => void) | undefined
const listeners = new Set<() => void>()

onExpiredSession(() => {
  // Before the first page of a signed-in person, the sign-in page is the way.
  if (queryClient.getQueryData(sessionQuery.queryKey) === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    answer = resolve
    for (const listener of listeners) listener()
  })
})

function close(isRenewed: boolean): void {
  const resolve = answer
  answer = undefined
  for (const listener of listeners) listener()
  resolve?.(isRenewed)
}

/** Belongs into the page once. */
export function SessionPlace() {
  const isOpen = useSyncExternalStore(subscribe, () => answer !== undefined)
  const session = queryClient.getQueryData(sessionQuery.queryKey)
  if (!isOpen || !session) return null
  return (
    <Suspense>
      <SignInAgain session={session} onRenewed={() => close(true)} onLeave={() => close(false)} />
    </Suspense>
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
