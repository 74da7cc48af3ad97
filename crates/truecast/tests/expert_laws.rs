//! Every expert keeps the laws; those that are declared later do too.

#[test]
fn every_expert() {
    truecast_testkit::laws::expert::expert_laws();
}
