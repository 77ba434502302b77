import { Skeleton, Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The outline of a page while its code or data loads. */
export function LoadingState() {
  const { t } = useTranslation()
  return (
    <Stack role="status" aria-label={t('loading')} maw={1600} mx="auto">
      <Skeleton h={32} w={240} />
      <Skeleton h={16} w="60%" />
      <Skeleton h={240} mt="md" />
    </Stack>
  )
}
