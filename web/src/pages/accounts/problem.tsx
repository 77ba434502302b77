import { Alert } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import i18next from 'i18next'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../../api/client.ts'
import type en from './en.json'

type KnownProblem = keyof typeof en.problem

/** The text for an error of sign-in and accounts: by its code, else the message of the server. */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation('accounts')
  return (error) => {
    if (!(error instanceof ApiError)) throw error
    return isKnown(error.code) ? t(`problem.${error.code}`) : error.message
  }
}

export function isKnown(code: string): code is KnownProblem {
  return i18next.exists(`problem.${code}`, { ns: 'accounts' })
}

/** Why the last step failed. Screen readers announce it. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle size={18} aria-hidden />}>
      {text}
    </Alert>
  )
}
