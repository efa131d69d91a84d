/** The type whose ids each place takes, by path. `ids` are the argument's own kind. */
export const PLACES: Record<string, string> = {
  'query messageByIdentifier identifier.id': 'Message',
  'query bot id': 'Bot',
  'query previewBot contactId': 'Contact',
  'query channel id': 'Channel',
  'query contact id': 'Contact',
  'query contactGroup id': 'ContactGroup',
  'query contactSource id': 'ContactSource',
  'query contactStatus id': 'ContactStatus',
  'query message id': 'Message',
  'query conversation id': 'Conversation',
  'query groupChat id': 'GroupChat',
  'query conversationJob id': 'ConversationJob',
  'mutation updateConversations input.target.ids': 'Conversation',
  'mutation updateConversations input.set.assigneeId': 'StaffMember',
  'mutation updateConversations input.set.addTagIds': 'Tag',
  'mutation updateConversations input.set.removeTagIds': 'Tag',
  'query networkChange id': 'NetworkChange',
  'query tag id': 'Tag',
  'query note id': 'Note',
  'query cannedReply id': 'CannedReply',
  'query savedFilter id': 'SavedFilter',
  'query previewBotHistory botId': 'Bot',
  'mutation updateConversation input.id': 'Conversation',
  'mutation updateConversation input.expectedAssigneeId': 'StaffMember',
  'mutation updateConversation input.expectedLastMessageId': 'Message',
  'mutation updateConversation input.assigneeId': 'StaffMember',
  'mutation updateConversation input.addTagIds': 'Tag',
  'mutation updateConversation input.removeTagIds': 'Tag',
  'mutation markConversationRead input.id': 'Conversation',
  'mutation markConversationRead input.upToMessageId': 'Message',
  'mutation updateTag input.id': 'Tag',
  'mutation deleteTag input.id': 'Tag',
  'mutation updateCannedReply input.id': 'CannedReply',
  'mutation deleteCannedReply input.id': 'CannedReply',
  'mutation updateSavedFilter input.id': 'SavedFilter',
  'mutation deleteSavedFilter input.id': 'SavedFilter',
  'mutation createNote input.contactId': 'Contact',
  'mutation createNote input.conversationId': 'Conversation',
  'mutation updateNote input.id': 'Note',
  'mutation deleteNote input.id': 'Note',
  'query media id': 'Media',
  'query trustedDocument id': 'TrustedDocument',
  'mutation createStaffSession input.staffMember.id': 'StaffMember',
  'mutation revokeStaffSessions input.id': 'StaffMember',
  'query node id': '*',
  'query nodes ids': '*',
  'query export id': 'Export',
  'mutation exportContact input.id': 'Contact',
  'mutation updateAccount input.defaultSourceId': 'ContactSource',
  'mutation updateAccount input.defaultStatusId': 'ContactStatus',
  'mutation updateAccount input.defaultAssigneeId': 'StaffMember',
  'query accessToken id': 'AccessToken',
  'query staffMember id': 'StaffMember',
  'mutation updateStaffMember input.id': 'StaffMember',
  'mutation deleteStaffMember input.id': 'StaffMember',
  'mutation revokeAccessToken input.id': 'AccessToken',
  'mutation resumeChannel input.id': 'Channel',
  'mutation pauseChannel input.id': 'Channel',
  'mutation checkChannel input.id': 'Channel',
  'mutation updateChannel input.id': 'Channel',
  'mutation disconnectChannel input.id': 'Channel',
  'mutation updateBot input.id': 'Bot',
  'mutation deleteBot input.id': 'Bot',
  'query contactByIdentifier identifier.id': 'Contact',
  'mutation updateContact input.id': 'Contact',
  'mutation replaceContact input.id': 'Contact',
  'mutation deleteContact input.id': 'Contact',
  'mutation updateContacts input.ids': 'Contact',
  'mutation recordConsent input.contactId': 'Contact',
  'query previewMerge input.id': 'Contact',
  'query previewMerge input.fromIds': 'Contact',
  'mutation mergeContacts input.id': 'Contact',
  'mutation mergeContacts input.fromIds': 'Contact',
  'mutation undoMerge input.id': 'Contact',
  'mutation eraseContact input.id': 'Contact',
  'query erasureReceipt id': 'ErasureReceipt',
  'mutation deleteContacts input.ids': 'Contact',
  'mutation updateContactGroup input.id': 'ContactGroup',
  'mutation deleteContactGroup input.id': 'ContactGroup',
  'mutation updateContactSource input.id': 'ContactSource',
  'mutation deleteContactSource input.id': 'ContactSource',
  'mutation updateContactStatus input.id': 'ContactStatus',
  'mutation deleteContactStatus input.id': 'ContactStatus',
  'mutation addContactsToGroup input.groupId': 'ContactGroup',
  'mutation addContactsToGroup input.contactIds': 'Contact',
  'mutation removeContactsFromGroup input.groupId': 'ContactGroup',
  'mutation removeContactsFromGroup input.contactIds': 'Contact',
  'mutation sendMessage input.channelId': 'Channel',
  'mutation sendMessage input.expectedContactId': 'Contact',
  'mutation sendMessage input.content.cannedReplyId': 'CannedReply',
  'mutation sendMessage input.to.contactId': 'Contact',
  'mutation sendMessage input.to.conversationId': 'Conversation',
  'mutation sendMessage input.replyToId': 'Message',
  'mutation sendMessage input.expectedLastMessageId': 'Message',
  'mutation setPresence input.conversationId': 'Conversation',
  'mutation retryMessage input.id': 'Message',
  'mutation reactToMessage input.id': 'Message',
  'mutation sendMessage input.content.media.file.mediaId': 'Media',
  'mutation sendMessage input.content.template.header.image.mediaId': 'Media',
  'mutation sendMessage input.content.template.header.video.mediaId': 'Media',
  'mutation sendMessage input.content.template.header.document.mediaId': 'Media',
  'mutation cancelMessage input.id': 'Message',
  'mutation rescheduleMessage input.id': 'Message',
  'mutation sendOtp input.contactId': 'Contact',
  'mutation resendOtp input.contactId': 'Contact',
  'mutation createMediaUpload input.channelId': 'Channel',
  'mutation sendOtp input.channelId': 'Channel',
  'mutation resendOtp input.channelId': 'Channel',
  'query integration id': 'Integration',
  'query integrationDelivery id': 'IntegrationDelivery',
  'query dryRunIntegration integrationId': 'Integration',
  'query dryRunIntegration deliveryId': 'IntegrationDelivery',
  'mutation updateIntegration input.id': 'Integration',
  'mutation deleteIntegration input.id': 'Integration',
  'mutation rotateIntegrationSecret input.id': 'Integration',
  'mutation createIntegration input.mappings.groupIds': 'ContactGroup',
  'mutation createIntegration input.mappings.template.channelId': 'Channel',
  'mutation createIntegrationMapping input.integrationId': 'Integration',
  'mutation createIntegrationMapping input.groupIds': 'ContactGroup',
  'mutation createIntegrationMapping input.template.channelId': 'Channel',
  'mutation updateIntegrationMapping input.id': 'IntegrationMapping',
  'mutation updateIntegrationMapping input.groupIds': 'ContactGroup',
  'mutation updateIntegrationMapping input.template.channelId': 'Channel',
  'mutation deleteIntegrationMapping input.id': 'IntegrationMapping',
  'mutation replayIntegrationDelivery input.id': 'IntegrationDelivery',
  'mutation replayIntegrationDeliveries input.ids': 'IntegrationDelivery',
  'mutation replayIntegrationDeliveries input.integrationId': 'Integration',
  'query otp id': 'Otp',
  'query previewTemplate contactId': 'Contact',
  'query previewTemplate template.header.image.mediaId': 'Media',
  'query previewTemplate template.header.video.mediaId': 'Media',
  'query previewTemplate template.header.document.mediaId': 'Media',
  'query template id': 'Template',
  'query templateByIdentifier identifier.id': 'Template',
  'mutation deleteTemplate input.id': 'Template',
  'mutation createTemplate input.channelId': 'Channel',
  'mutation syncTemplates input.channelId': 'Channel',
  'query webhookDelivery id': 'WebhookDelivery',
  'query webhookEndpoint id': 'WebhookEndpoint',
  'mutation deleteWebhookEndpoint input.id': 'WebhookEndpoint',
  'mutation replayWebhookDeliveries input.endpointId': 'WebhookEndpoint',
  'mutation replayWebhookDeliveries input.ids': 'WebhookDelivery',
  'mutation replayWebhookDelivery input.id': 'WebhookDelivery',
  'mutation replayWebhookDelivery input.endpointId': 'WebhookEndpoint',
  'mutation rotateWebhookSecret input.id': 'WebhookEndpoint',
  'mutation testWebhookEndpoint input.id': 'WebhookEndpoint',
  'mutation updateWebhookEndpoint input.id': 'WebhookEndpoint',
};
for (const field of ['createCannedReply', 'updateCannedReply']) {
  PLACES[`mutation ${field} input.content.cannedReplyId`] = 'CannedReply';
  PLACES[`mutation ${field} input.content.media.file.mediaId`] = 'Media';
  for (const kind of ['image', 'video', 'document'])
    PLACES[`mutation ${field} input.content.template.header.${kind}.mediaId`] = 'Media';
}
for (const field of ['createCampaign', 'updateCampaign']) {
  PLACES[`mutation ${field} input.channelId`] = 'Channel';
  PLACES[`mutation ${field} input.audience.groupIds`] = 'ContactGroup';
  PLACES[`mutation ${field} input.audience.contactIds`] = 'Contact';
  PLACES[`mutation ${field} input.audience.listId`] = 'RecipientList';
  PLACES[`mutation ${field} input.audience.savedFilterId`] = 'SavedFilter';
  for (const kind of ['image', 'video', 'document'])
    PLACES[`mutation ${field} input.template.header.${kind}.mediaId`] = 'Media';
}
for (const field of ['update', 'delete', 'start', 'pause', 'resume', 'cancel', 'test'].map(verb => `${verb}Campaign`))
  PLACES[`mutation ${field} input.id`] = 'Campaign';
for (const field of ['addRecipientListRows', 'deleteRecipientList'])
  PLACES[`mutation ${field} input.id`] = 'RecipientList';
PLACES['query campaign id'] = 'Campaign';
PLACES['query previewCampaign id'] = 'Campaign';
PLACES['query recipientList id'] = 'RecipientList';
PLACES['query costEntry id'] = 'CostEntry';
for (const field of ['createBot', 'updateBot']) {
  PLACES[`mutation ${field} input.reply.media.mediaId`] = 'Media';
  for (const kind of ['image', 'video', 'document'])
    PLACES[`mutation ${field} input.reply.template.header.${kind}.mediaId`] = 'Media';
}
for (const [field, prefix] of [
  ['createContact', 'input'],
  ['updateContact', 'input'],
  ['replaceContact', 'input'],
  ['createContacts', 'input.contacts'],
  ['updateContacts', 'input.set'],
  ['mergeContacts', 'input.set'],
  ['sendMessage', 'input.contact'],
  ['sendMessages', 'input.messages.contact'],
] as const) {
  for (const [name, type] of [
    ['sourceId', 'ContactSource'],
    ['statusId', 'ContactStatus'],
    ['assigneeId', 'StaffMember'],
    ['groupIds', 'ContactGroup'],
  ] as const) {
    PLACES[`mutation ${field} ${prefix}.${name}`] = type;
    if (field === 'mergeContacts') PLACES[`query previewMerge ${prefix}.${name}`] = type;
  }
}
for (const [place, type] of Object.entries(PLACES))
  if (place.startsWith('mutation sendMessage input.') && !place.includes('.contact.'))
    PLACES[place.replace('sendMessage input.', 'sendMessages input.messages.')] = type;
export const FILTERS: Record<string, string> = {
  sourceId: 'ContactSource',
  statusId: 'ContactStatus',
  assigneeId: 'StaffMember',
  groupId: 'ContactGroup',
  contactId: 'Contact',
  channelId: 'Channel',
  templateId: 'Template',
  campaignId: 'Campaign',
  conversationId: 'Conversation',
  integrationId: 'Integration',
  endpointId: 'WebhookEndpoint',
  tagId: 'Tag',
};
/** What the filter of events takes: lists of ids. */
export const FACETS: Record<string, string> = {
  contactIds: 'Contact',
  conversationIds: 'Conversation',
  channelIds: 'Channel',
  messageIds: 'Message',
  campaignIds: 'Campaign',
  endpointIds: 'WebhookEndpoint',
  assigneeIds: 'StaffMember',
};
/** The type of the rows of each list with a filter. */
export const LISTS: Record<string, string> = {
  bots: 'Bot',
  channels: 'Channel',
  groupChats: 'GroupChat',
  networkChanges: 'NetworkChange',
  campaigns: 'Campaign',
  recipientLists: 'RecipientList',
  costEntries: 'CostEntry',
  contacts: 'Contact',
  conversations: 'Conversation',
  tags: 'Tag',
  cannedReplies: 'CannedReply',
  savedFilters: 'SavedFilter',
  integrationDeliveries: 'IntegrationDelivery',
  integrations: 'Integration',
  erasureReceipts: 'ErasureReceipt',
  contactGroups: 'ContactGroup',
  contactSources: 'ContactSource',
  contactStatuses: 'ContactStatus',
  messages: 'Message',
  messageStatistics: 'Message',
  webhookDeliveries: 'WebhookDelivery',
  webhookEndpoints: 'WebhookEndpoint',
  otps: 'Otp',
  templates: 'Template',
  authenticationTemplates: 'Template',
  trustedDocuments: 'TrustedDocument',
  accessTokens: 'AccessToken',
  staffMembers: 'StaffMember',
  exports: 'Export',
};
/** Types whose databaseId is a UUID. */
export const UUIDS = ['ErasureReceipt', 'Export', 'IntegrationDelivery', 'Media', 'Message', 'Otp', 'WebhookDelivery'];
