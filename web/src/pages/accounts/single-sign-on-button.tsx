import { Button } from '@mantine/core'
import { IconLogin2 } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { useProblemText } from './problem.tsx'

interface SingleSignOnButtonProps {
  name: string
  /** The page of the console to which the sign-in returns, with `/console`. */
  returnTo: string
  isPrimary: boolean
  onProblem: (text: string) => void
}

/** Leads to the single sign-on provider. */
export function SingleSignOnButton({ name, returnTo, isPrimary, onProblem }: SingleSignOnButtonProps) {
  const { t } = useTranslation('accounts')
  const problemText = useProblemText()
  const [isBusy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      const { url } = await postJson<{ url: string }>('/api/auth/sign-in/social', { returnTo })
      globalThis.location.assign(url)
    } catch (error) {
      setBusy(false)
      onProblem(problemText(error))
    }
  }
  return (
    <Button
      variant={isPrimary ? 'filled' : 'default'}
      loading={isBusy}
      leftSection={<IconLogin2 size={18} aria-hidden />}
      onClick={() => void start()}
    >
      {t('signIn.with', { name })}
    </Button>
  )
}
