import { Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { patchJson } from '../../api/client.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { notifyError } from '../../ui/notify.ts'
import { useUsage } from './use-usage.ts'

/** Whether `user` and `metadata` of calls are recorded. Turning it off deletes what was recorded, so it is confirmed. */
export function TagSetting({ recordsTags }: { recordsTags: boolean }) {
  const { t } = useTranslation('usage')
  const { organisationId } = useUsage()
  const queryClient = useQueryClient()
  const [isOn, setOn] = useState(recordsTags)
  const change = useMutation({
    mutationFn: (recordUsageTags: boolean) => patchJson(`/api/organisations/${organisationId}`, { recordUsageTags }),
    onSuccess: async (_body, recordUsageTags) => {
      setOn(recordUsageTags)
      await queryClient.invalidateQueries({ queryKey: ['usage'] })
    },
    onError: notifyError,
  })
  return (
    <Stack gap={4}>
      <Switch
        label={t('tags.label')}
        checked={isOn}
        disabled={change.isPending}
        onChange={({ currentTarget: { checked } }) => {
          if (checked) change.mutate(true)
          else
            openConfirm({
              title: t('tags.confirmTitle'),
              text: t('tags.confirmText'),
              confirm: t('tags.confirm'),
              onConfirm: () => change.mutate(false),
            })
        }}
      />
      <Text size="sm" c="dimmed" maw={720}>
        {t('tags.text')}
      </Text>
    </Stack>
  )
}
