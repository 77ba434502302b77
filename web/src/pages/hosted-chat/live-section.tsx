import { Button, Group, Progress, SimpleGrid, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { SiteTodayBody, SiteViewBody } from '@contract/sites.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Section } from '../../ui/section.tsx'
import { todayQuery } from './site-queries.ts'

/** The link and the element for websites, and what visitors do today. */
export function LiveSection({ spaceId, view }: { spaceId: string; view: SiteViewBody }) {
  const { t } = useTranslation('hosted-chat')
  const { data: today } = useQuery(todayQuery(spaceId))
  const { shareUrl, snippet } = view
  return (
    <>
      <Section title={t('live.share')}>
        {shareUrl !== null && (
          <Group align="flex-end" gap="sm">
            <div style={{ flex: '1 1 280px', maxWidth: 560 }}>
              <CopyField label={t('live.link')} value={shareUrl} />
            </div>
            <Button
              component="a"
              href={shareUrl}
              target="_blank"
              rel="noopener"
              variant="default"
              rightSection={<IconExternalLink size={14} aria-hidden />}
            >
              {t('live.open')}
            </Button>
          </Group>
        )}
        <div>
          <Text size="sm" fw={500}>
            {t('live.snippet')}
          </Text>
          <Dimmed mb={6}>{snippet === null ? t('live.noSnippet') : t('live.snippetHint')}</Dimmed>
          {snippet !== null && <CodeBlock code={snippet} language="html" label={t('live.snippet')} />}
        </div>
      </Section>
      {today && <Today today={today} />}
    </>
  )
}

function Today({ today }: { today: SiteTodayBody }) {
  const { t } = useTranslation('hosted-chat')
  const format = useFormat()
  const cap = Number(today.capUsd)
  const used = Number(today.spentUsd) + Number(today.heldUsd)
  const percent = cap === 0 ? 100 : Math.min(100, (used / cap) * 100)
  return (
    <Section title={t('today.title')}>
      <SimpleGrid cols={{ base: 1, xs: 3 }} maw={720}>
        <Figure value={format.money(today.spentUsd)} label={t('today.spent', { cap: format.money(today.capUsd) })} />
        <Figure value={format.number(today.messages)} label={t('today.messages')} />
        <Figure value={format.number(today.sessions)} label={t('today.sessions')} />
      </SimpleGrid>
      <Progress
        value={percent}
        color={percent >= 100 ? 'red' : percent >= 80 ? 'orange' : undefined}
        aria-label={t('today.share')}
        maw={720}
      />
      {percent >= 100 && (
        <Text size="sm">
          {cap === 0 ? t('today.noCap') : t('today.reached', { time: format.dateTime(today.resetsAt) })}
        </Text>
      )}
    </Section>
  )
}

function Figure({ value, label }: { value: string; label: string }) {
  return (
    <div>
      <Text fz={24} fw={600} lh={1.2}>
        {value}
      </Text>
      <Dimmed>{label}</Dimmed>
    </div>
  )
}
