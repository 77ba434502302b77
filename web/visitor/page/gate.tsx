import { useState } from 'preact/hooks'
import type { SiteConfigBody } from '@contract/site-visits.ts'
import type { Texts } from '../texts/en.ts'
import { Brand } from './app.tsx'
import type { Embed } from './embed.ts'
import type { Problem } from './history.ts'
import { IconButton } from './icons.tsx'
import { ProblemView } from './problem-view.tsx'

interface GateProps {
  texts: Texts
  config: SiteConfigBody | undefined
  embed: Embed | undefined
  /** Undefined while the visit is being opened. */
  problem: Problem | undefined
  isSolving: boolean
  hasTriedPassword: boolean
  onRetry: () => void
  onPassword: (password: string) => void
}

/** What a visitor meets before the chat: a password, a sign-in, or a reason why there is no chat. */
export function Gate(props: GateProps) {
  const { texts, config, embed, problem, isSolving, onRetry } = props
  return (
    <div class="layout gate">
      <header class="header">
        {config ? <Brand config={config} /> : <h1 class="hidden">{texts.conversation}</h1>}
        {embed && <IconButton icon="close" label={texts.close} onClick={() => embed.send({ type: 'close' })} />}
      </header>
      <main class="log">
        <div class="column card">
          {problem === undefined ? (
            <p role="status" class="note">
              {isSolving ? texts.checking : texts.loading}
            </p>
          ) : problem.kind === 'password' ? (
            <PasswordForm {...props} />
          ) : problem.kind === 'members' ? (
            <Members texts={texts} embed={embed} />
          ) : (
            <ProblemView problem={problem} texts={texts} onRetry={onRetry} />
          )}
        </div>
      </main>
    </div>
  )
}

function PasswordForm({ texts, hasTriedPassword, onPassword }: GateProps) {
  const [password, setPassword] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (password !== '') onPassword(password)
      }}
    >
      <h2>{texts.passwordTitle}</h2>
      <label>
        {texts.passwordLabel}
        <input
          type="password"
          autocomplete="current-password"
          value={password}
          ref={(input) => input?.focus()}
          aria-invalid={hasTriedPassword}
          aria-describedby="password-problem"
          onInput={({ currentTarget }) => setPassword(currentTarget.value)}
        />
      </label>
      <p id="password-problem" class="invalid" role="alert">
        {hasTriedPassword ? texts.passwordWrong : ''}
      </p>
      <button type="submit" class="button primary">
        {texts.passwordSubmit}
      </button>
    </form>
  )
}

function Members({ texts, embed }: { texts: Texts; embed: Embed | undefined }) {
  const returnTo = encodeURIComponent(location.pathname)
  return (
    <>
      <h2>{texts.membersTitle}</h2>
      <p>{texts.membersText}</p>
      <a
        class="button primary"
        href={`/console/sign-in?returnTo=${returnTo}`}
        {...(embed ? { target: '_blank', rel: 'noopener' } : {})}
      >
        {texts.signIn}
      </a>
    </>
  )
}
