import { Button, Code, Group } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/client.ts'
import { EmptyState } from './empty-state.tsx'
import { LoadingState } from './loading-state.tsx'
import { NotFoundState } from './not-found-state.tsx'

/** Replaces a page whose data could not be loaded: what happened, and the way out. */
export function ErrorState({ error }: ErrorComponentProps) {
  const { t } = useTranslation()
  if (error instanceof ApiError) {
    // The sign-in page is on its way: router.ts.
    if (error.status === 401) return <LoadingState />
    if (error.status === 403)
      return <EmptyState drawing="broken" title={t('error.forbidden')} text={t('error.forbiddenText')} />
    if (error.status === 404) return <NotFoundState />
    if (error.status === 0)
      return (
        <EmptyState
          drawing="broken"
          title={t('error.noConnection')}
          text={t('error.noConnectionText')}
          action={<RetryButton />}
        />
      )
  }
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <EmptyState
      drawing="broken"
      title={t('error.title')}
      text={error instanceof Error ? error.message : undefined}
      action={
        <Group>
          <RetryButton />
          {requestId && <Code>{t('requestId', { id: requestId })}</Code>}
        </Group>
      }
    />
  )
}

function RetryButton() {
  const { t } = useTranslation()
  const router = useRouter()
  const { reset } = useQueryErrorResetBoundary()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return (
    <Button variant="default" onClick={retry}>
      {t('retry')}
    </Button>
  )
}
