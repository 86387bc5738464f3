package site

// What a resource may hold follows pkg/apis/skupper/v2alpha1 of skupperproject/skupper, and for what every resource has,
// ObjectMeta of Kubernetes.

const (
	skupperVersion = "skupper.io/v2alpha1"
	coreVersion    = "v1"
)

// kindRule is what is known of a kind.
type kindRule struct {
	name    string
	version string
	shape   *shape // of the whole resource; nil: not looked at, because the kind has no effect outside Kubernetes
	label   bool   // the name must be a label, as upstream wants it (site_state_validator.go), not only fit for a file
	add     func(rs *Resources, r *Resource)
}

// rules are the kinds by name.
var rules = []kindRule{
	{"AccessGrant", skupperVersion, nil, false, nil},
	{"AccessToken", skupperVersion, resource(&accessTokenShape), true, addAccessToken},
	{"AttachedConnector", skupperVersion, nil, false, nil},
	{"AttachedConnectorBinding", skupperVersion, nil, false, nil},
	{"Certificate", skupperVersion, resource(&certificateShape), false, addCertificate},
	{"ConfigMap", coreVersion, nil, false, nil},
	{"Connector", skupperVersion, resource(&connectorShape), true, addConnector},
	{"Link", skupperVersion, resource(&linkShape), true, addLink},
	{"Listener", skupperVersion, resource(&listenerShape), true, addListener},
	{"MultiKeyListener", skupperVersion, resource(&multiKeyListenerShape), true, addMultiKeyListener},
	{"RouterAccess", skupperVersion, resource(&routerAccessShape), true, addRouterAccess},
	{"Secret", coreVersion, &secretShape, false, addSecret},
	{"SecuredAccess", skupperVersion, nil, false, nil},
	{"Site", skupperVersion, resource(&siteShape), true, addSite},
}

// kindNames are the kinds by name.
var kindNames = func() (names []string) {
	for _, rule := range rules {
		names = append(names, rule.name)
	}
	return names
}()

func findKind(name string) *kindRule {
	for i := range rules {
		if rules[i].name == name {
			return &rules[i]
		}
	}
	return nil
}

// resource returns the shape of a resource with a spec.
func resource(spec *shape) *shape {
	return &shape{
		{name: "apiVersion"},
		{name: "kind"},
		{name: "metadata", form: objectForm, of: &metadataShape},
		{name: "spec", form: objectForm, of: spec},
		{name: "status", form: anyForm},
	}
}

var (
	metadataShape = shape{
		{name: "name"},
		{name: "namespace"},
		{name: "labels", form: anyForm},
		{name: "annotations", form: anyForm},
		{name: "creationTimestamp", form: anyForm},
		{name: "deletionGracePeriodSeconds", form: anyForm},
		{name: "deletionTimestamp", form: anyForm},
		{name: "finalizers", form: anyForm},
		{name: "generateName", form: anyForm},
		{name: "generation", form: anyForm},
		{name: "managedFields", form: anyForm},
		{name: "ownerReferences", form: anyForm},
		{name: "resourceVersion", form: anyForm},
		{name: "selfLink", form: anyForm},
		{name: "uid", form: anyForm},
	}
	listShape = shape{
		{name: "apiVersion"},
		{name: "kind"},
		{name: "metadata", form: anyForm},
		{name: "items", form: anyForm},
	}
	secretShape = shape{
		{name: "apiVersion"},
		{name: "kind"},
		{name: "metadata", form: objectForm, of: &metadataShape},
		{name: "type"},
		{name: "data", form: proseMap},
		{name: "stringData", form: proseMap},
		{name: "immutable", form: flagForm},
	}
	siteShape = shape{
		{name: "linkAccess"},
		{name: "edge", form: flagForm},
		{name: "ha", form: flagForm},
		{name: "defaultIssuer", idle: true},
		{name: "serviceAccount", idle: true},
		{name: "settings", form: proseMap},
	}
	listenerShape = shape{
		{name: "routingKey"},
		{name: "host"},
		{name: "port", form: integerForm},
		{name: "tlsCredentials"},
		{name: "type"},
		{name: "observer"},
		{name: "exposePodsByName", form: flagForm, idle: true},
		{name: "settings", form: proseMap, idle: true},
	}
	connectorShape = shape{
		{name: "routingKey"},
		{name: "host"},
		{name: "port", form: integerForm},
		{name: "selector", idle: true},
		{name: "tlsCredentials"},
		{name: "useClientCert", form: flagForm},
		{name: "verifyHostname", form: flagForm},
		{name: "type"},
		{name: "exposePodsByName", form: flagForm, idle: true},
		{name: "includeNotReadyPods", form: flagForm, idle: true},
		{name: "settings", form: proseMap, idle: true},
	}
	multiKeyListenerShape = shape{
		{name: "host"},
		{name: "port", form: integerForm},
		{name: "tlsCredentials"},
		{name: "requireClientCert", form: flagForm},
		{name: "observer"},
		{name: "strategy", form: objectForm, of: &strategyShape},
		{name: "settings", form: proseMap, idle: true},
	}
	strategyShape = shape{
		{name: "priority", form: objectForm, of: &priorityShape},
		{name: "weighted", form: objectForm, of: &weightedShape},
	}
	priorityShape = shape{{name: "routingKeys", form: wordsForm}}
	weightedShape = shape{{name: "routingKeys", form: weightMap}}
	linkShape     = shape{
		{name: "endpoints", form: objectsForm, of: &endpointShape},
		{name: "tlsCredentials"},
		{name: "cost", form: integerForm},
		{name: "settings", form: proseMap},
	}
	endpointShape = shape{
		{name: "name"},
		{name: "host"},
		{name: "port"},
		{name: "group"},
	}
	routerAccessShape = shape{
		{name: "roles", form: objectsForm, of: &roleShape},
		{name: "tlsCredentials"},
		{name: "generateTlsCredentials", form: flagForm},
		{name: "bindHost"},
		{name: "subjectAlternativeNames", form: wordsForm},
		{name: "issuer"},
		{name: "accessType", idle: true},
		{name: "settings", form: proseMap, idle: true},
	}
	roleShape = shape{
		{name: "name"},
		{name: "port", form: integerForm},
	}
	accessTokenShape = shape{
		{name: "url"},
		{name: "code"},
		{name: "ca", form: proseForm},
		{name: "linkCost", form: integerForm},
		{name: "settings", form: proseMap, idle: true},
	}
	certificateShape = shape{
		{name: "ca"},
		{name: "subject"},
		{name: "hosts", form: wordsForm},
		{name: "client", form: flagForm},
		{name: "server", form: flagForm},
		{name: "signing", form: flagForm},
		{name: "settings", form: proseMap, idle: true},
	}
)
